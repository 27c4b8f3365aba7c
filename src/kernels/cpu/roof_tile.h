// Peak loops of a vector unit, for any instruction set. Chains of independent accumulators cover the latency
// of two units; one operand of every second product comes from L1, as a kernel's do (a loop in registers
// alone would not feel a neighbour on the same core as kernels feel it), and is opaque to the compiler, so
// that no product can be shared, hoisted or merged. All factors are 1: the accumulators count the products.
// Included by ISA files only.
#pragma once

#include "kernels/cpu/roof_loops.h"

namespace reprise::kernels::cpu {

template <class Isa>
struct RoofTile {
  using V = typename Isa::V;
  using I = typename Isa::I;
  static constexpr int kChains = Isa::kAccumulators < 12 ? Isa::kAccumulators : 12;
  static constexpr int kUnroll = 20;
  static constexpr uint64_t kProducts = uint64_t{kUnroll} * kChains;  // a round

  // acc[c] = product(acc[c], one), kProducts times a round.
  template <class T, class Operand, class Product>
  [[gnu::always_inline]] static void chains(uint64_t rounds, T (&acc)[kChains], Operand one,
                                            Product&& product) {
    Operand ones[kChains];  // in L1
    for (Operand& x : ones) x = one;
    Operand operand = one;
    for (uint64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 20
      for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 12
        for (int c = 0; c < kChains; ++c) {
          if (c % 2 == 0) {
            asm volatile("" : "+m"(ones[c]));
            operand = ones[c];
          }
          Isa::opaque(operand);
          acc[c] = product(acc[c], operand);
          Isa::opaque(acc[c]);  // else GCC adds the products up first, and spills
        }
  }

  static double sum(const V (&acc)[kChains]) {
    double total = 0;
    for (const V& a : acc) {
      float lanes[Isa::kLanes];
      Isa::store(lanes, a);
      for (const float x : lanes) total += static_cast<double>(x);
    }
    return total;
  }

  static uint64_t int8(uint64_t rounds, double* total) {
    I acc[kChains];
    for (I& a : acc) a = Isa::broadcast(0);
    const I ones = Isa::broadcast(0x01010101);
    chains(
        rounds, acc,
        ones, [&](I a, I x) __attribute__((always_inline)) { return Isa::dot_bytes(a, ones, x); });
    V as_float[kChains];
    for (int c = 0; c < kChains; ++c) as_float[c] = Isa::to_float(acc[c]);
    *total = sum(as_float);
    return rounds * kProducts * Isa::kLanes * 4 * 2;
  }

  static uint64_t fp32(uint64_t rounds, double* total) {
    V acc[kChains];
    for (V& a : acc) a = Isa::zero();
    const V one = Isa::set1(1);
    chains(
        rounds, acc, one, [&](V a, V x) __attribute__((always_inline)) { return Isa::fma(one, x, a); });
    *total = sum(acc);
    return rounds * kProducts * Isa::kLanes * 2;
  }

  static uint64_t bf16(uint64_t rounds, double* total) {
    V acc[kChains];
    for (V& a : acc) a = Isa::zero();
    const I ones = Isa::broadcast(0x3f803f80);
    chains(
        rounds, acc,
        ones, [&](V a, I x) __attribute__((always_inline)) { return Isa::dot_bf16(a, ones, x); });
    *total = sum(acc);
    return rounds * kProducts * Isa::kLanes * 2 * 2;
  }

  // The XOR of all 64-bit words; bytes is a multiple of eight vectors.
  static uint64_t read(const std::byte* data, size_t bytes) {
    constexpr size_t kVector = Isa::kLanes * 4, kBlock = 8 * kVector, kAhead = 4096;
    I acc[8];
    for (I& a : acc) a = Isa::broadcast(0);
    for (size_t i = 0; i + kBlock <= bytes; i += kBlock) {
#pragma GCC unroll 8
      for (int c = 0; c < 8; ++c) acc[c] = Isa::bit_xor(acc[c], Isa::load_bits(data + i + c * kVector));
#pragma GCC unroll 8
      for (size_t line = 0; line < kBlock; line += 64) __builtin_prefetch(data + i + line + kAhead);
    }
    for (int c = 1; c < 8; ++c) acc[0] = Isa::bit_xor(acc[0], acc[c]);
    uint64_t words[kVector / 8], all = 0;
    Isa::store_bytes(words, acc[0]);
    for (const uint64_t w : words) all ^= w;
    return all;
  }
};

}  // namespace reprise::kernels::cpu
