// Peak loops: twelve independent accumulators cover the latency of two units; an empty asm keeps results
// alive.
#include <immintrin.h>

#include "kernels/cpu/roof_loops.h"

namespace reprise::kernels::cpu::avx512 {

namespace {
constexpr int kChains = 12, kUnroll = 20;
alignas(64) int8_t l1_data[kChains][64];  // zeros: loads hit L1, products cost what they always do
}  // namespace

uint64_t roof_int8(uint64_t rounds) {
  __m512i acc[kChains] = {};
  const __m512i w = _mm512_set1_epi8(3);
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 20
    for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c)
        acc[c] = _mm512_dpbusd_epi32(acc[c], w, _mm512_load_si512(l1_data[c]));
    asm volatile("" ::: "memory");
  }
  for (__m512i& a : acc) asm volatile("" : : "v"(a));
  return rounds * kUnroll * kChains * 128;
}

uint64_t roof_fp32(uint64_t rounds) {
  __m512 acc[kChains] = {};
  const __m512 w = _mm512_set1_ps(0.5f);
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 20
    for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c)
        acc[c] = _mm512_fmadd_ps(acc[c], w, _mm512_castsi512_ps(_mm512_load_si512(l1_data[c])));
    asm volatile("" ::: "memory");
  }
  for (__m512& a : acc) asm volatile("" : : "v"(a));
  return rounds * kUnroll * kChains * 32;
}

__attribute__((target("avx512bf16"))) uint64_t roof_bf16(uint64_t rounds) {
  __m512 acc[kChains] = {};
  const __m512bh w = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3f00));
  for (uint64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 20
    for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c)
        acc[c] = _mm512_dpbf16_ps(acc[c], w, reinterpret_cast<__m512bh>(_mm512_load_si512(l1_data[c])));
    asm volatile("" ::: "memory");
  }
  for (__m512& a : acc) asm volatile("" : : "v"(a));
  return rounds * kUnroll * kChains * 64;
}

uint64_t read(const std::byte* data, size_t bytes) {
  __m512i acc[8] = {};
  for (size_t i = 0; i + 512 <= bytes; i += 512) {
#pragma GCC unroll 8
    for (int c = 0; c < 8; ++c) {
      acc[c] = _mm512_xor_si512(acc[c], _mm512_loadu_si512(data + i + c * 64));
      _mm_prefetch(reinterpret_cast<const char*>(data + i + c * 64 + 4096), _MM_HINT_T0);
    }
  }
  for (int c = 1; c < 8; ++c) acc[0] = _mm512_xor_si512(acc[0], acc[c]);
  return static_cast<uint64_t>(_mm512_reduce_add_epi64(acc[0]));
}

}  // namespace reprise::kernels::cpu::avx512
