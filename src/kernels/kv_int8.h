// A head's key or value as int8: x ~ scale * q, q in [-127, 127], symmetric around the largest magnitude.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace reprise::kernels {

struct Int8Scale {
  float scale, inverse;
  int8_t code(float x) const { return static_cast<int8_t>(std::lrint(x * inverse)); }
};

// A NaN or an infinity anywhere makes the scale NaN and all codes 0, so that it reaches every result.
inline Int8Scale int8_scale(const float* x, uint32_t n) {
  float top = 0;
  bool finite = true;
  for (uint32_t i = 0; i < n; ++i) {
    finite = finite && std::isfinite(x[i]);
    top = std::fmax(top, std::fabs(x[i]));
  }
  if (!finite) return {std::numeric_limits<float>::quiet_NaN(), 0};
  // Below 1e-30 the inverse could overflow: such a head is zero.
  return top > 1e-30f ? Int8Scale{top / 127, 127 / top} : Int8Scale{0, 0};
}

}  // namespace reprise::kernels
