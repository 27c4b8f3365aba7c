// Peak loops: twelve independent accumulators cover the latency of two units; an empty asm keeps results
// alive.
#include <immintrin.h>

#include "kernels/cpu/roof_loops.h"

namespace reprise::kernels::cpu::avx2 {

namespace {
constexpr int kChains = 12, kUnroll = 20;
alignas(32) int8_t l1_data[kChains][32];
}  // namespace

// The dot product of bytes that AVX2 has: multiply-add of bytes, of words, and an addition.
uint64_t roof_int8(uint64_t rounds) {
  __m256i acc[kChains] = {};
  const __m256i w = _mm256_set1_epi8(3), ones = _mm256_set1_epi16(1);
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 20
    for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c) {
        const __m256i words =
            _mm256_maddubs_epi16(w, _mm256_load_si256(reinterpret_cast<const __m256i*>(l1_data[c])));
        acc[c] = _mm256_add_epi32(acc[c], _mm256_madd_epi16(words, ones));
      }
    asm volatile("" ::: "memory");
  }
  for (__m256i& a : acc) asm volatile("" : : "x"(a));
  return rounds * kUnroll * kChains * 64;
}

uint64_t roof_fp32(uint64_t rounds) {
  __m256 acc[kChains] = {};
  const __m256 w = _mm256_set1_ps(0.5f);
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 20
    for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c)
        acc[c] = _mm256_fmadd_ps(acc[c], w, _mm256_load_ps(reinterpret_cast<const float*>(l1_data[c])));
    asm volatile("" ::: "memory");
  }
  for (__m256& a : acc) asm volatile("" : : "x"(a));
  return rounds * kUnroll * kChains * 16;
}

uint64_t read(const std::byte* data, size_t bytes) {
  __m256i acc[8] = {};
  for (size_t i = 0; i + 256 <= bytes; i += 256) {
#pragma GCC unroll 8
    for (int c = 0; c < 8; ++c)
      acc[c] =
          _mm256_xor_si256(acc[c], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + i + c * 32)));
    for (int c = 0; c < 4; ++c)
      _mm_prefetch(reinterpret_cast<const char*>(data + i + c * 64 + 4096), _MM_HINT_T0);
  }
  for (int c = 1; c < 8; ++c) acc[0] = _mm256_xor_si256(acc[0], acc[c]);
  return static_cast<uint64_t>(_mm256_extract_epi64(acc[0], 0));
}

}  // namespace reprise::kernels::cpu::avx2
