// AVX-512 with AVX512_BF16: products of pairs of bf16.
#pragma once

#include "kernels/cpu/avx512/isa.h"

namespace reprise::kernels::cpu {

struct Avx512Bf16 : Avx512Of<struct Avx512WithBf16> {
  // sum + the products of both halves of each lane, in fp32; denormals count as 0.
  static V dot_bf16(V sum, I a, I b) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
  static I low_half(I x) { return _mm512_and_si512(x, _mm512_set1_epi32(0xffff)); }
  // Rounded to nearest even; gives the rounded values.
  static V store_bf16(void* p, V x) {
    const __m256i halves = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x));
    _mm256_storeu_si256(static_cast<__m256i*>(p), halves);
    return low_bf16(_mm512_cvtepu16_epi32(halves));
  }
};

}  // namespace reprise::kernels::cpu
