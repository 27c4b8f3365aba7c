// The one dot product of the reference table: eight partial sums over k mod 8, added pairwise at the end.
#pragma once

#include <cstdint>

namespace reprise::kernels::ref {

inline float sum8(const float* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

inline float dot(const float* a, const float* b, uint32_t n) {
  float s[8] = {};
  uint32_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int i = 0; i < 8; ++i) s[i] += a[k + i] * b[k + i];
  for (int i = 0; k + i < n; ++i) s[i] += a[k + i] * b[k + i];
  return sum8(s);
}

}  // namespace reprise::kernels::ref
