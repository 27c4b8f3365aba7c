#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/roof_tile.h"

namespace reprise::kernels::cpu::avx512 {

uint64_t roof_int8(uint64_t rounds, double* sum) { return RoofTile<Avx512>::int8(rounds, sum); }
uint64_t roof_fp32(uint64_t rounds, double* sum) { return RoofTile<Avx512>::fp32(rounds, sum); }
uint64_t read(const std::byte* data, size_t bytes) { return RoofTile<Avx512>::read(data, bytes); }

// As RoofTile's loops, which cannot be inlined into a function of more instructions than theirs.
__attribute__((target("avx512bf16"))) uint64_t roof_bf16(uint64_t rounds, double* sum) {
  using Tile = RoofTile<Avx512>;
  __m512 acc[Tile::kChains] = {};
  const __m512i one = _mm512_set1_epi16(0x3f80);
  __m512i ones[Tile::kChains];  // in L1
  for (__m512i& x : ones) x = one;
  __m512i operand = one;
  for (uint64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 20
    for (int u = 0; u < Tile::kUnroll; ++u)
#pragma GCC unroll 12
      for (int c = 0; c < Tile::kChains; ++c) {
        if (c % 2 == 0) {
          asm volatile("" : "+m"(ones[c]));
          operand = ones[c];
        }
        Avx512::opaque(operand);
        acc[c] =
            _mm512_dpbf16_ps(acc[c], reinterpret_cast<__m512bh>(one), reinterpret_cast<__m512bh>(operand));
        Avx512::opaque(acc[c]);
      }
  *sum = Tile::sum(acc);
  return rounds * Tile::kProducts * 64;
}

}  // namespace reprise::kernels::cpu::avx512
