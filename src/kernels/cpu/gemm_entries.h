// The matrix multiply kernels of an instruction set, one per packing. Their unrolled loops compile for long,
// so each set instantiates them in a file of its own, <isa>/gemm.cc. Included by ISA files only.
#pragma once

#include "kernels/cpu/float_tile.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu {

template <class Isa>
struct GemmEntries {
  static void f32(const GemmTask& task);
  static void f16(const GemmTask& task);
  static void bf16(const GemmTask& task);
  static void bytes(const GemmTask& task);
  static void nibbles(const GemmTask& task);
  static void nibbles_min(const GemmTask& task);
  static void six_bits(const GemmTask& task);
};

// Not inline: an `extern template` declaration keeps them out of the other files.
template <class Isa>
void GemmEntries<Isa>::f32(const GemmTask& task) {
  FloatGemm<Isa, LoadF32<Isa>>::run(task);
}
template <class Isa>
void GemmEntries<Isa>::f16(const GemmTask& task) {
  FloatGemm<Isa, LoadF16<Isa>>::run(task);
}
template <class Isa>
void GemmEntries<Isa>::bf16(const GemmTask& task) {
  FloatGemm<Isa, LoadBF16<Isa>>::run(task);
}
template <class Isa>
void GemmEntries<Isa>::bytes(const GemmTask& task) {
  QuantGemm<Isa, Bytes<Isa>>::run(task);
}
template <class Isa>
void GemmEntries<Isa>::nibbles(const GemmTask& task) {
  QuantGemm<Isa, Nibbles<Isa>>::run(task);
}
template <class Isa>
void GemmEntries<Isa>::nibbles_min(const GemmTask& task) {
  QuantGemm<Isa, NibblesMin<Isa>>::run(task);
}
template <class Isa>
void GemmEntries<Isa>::six_bits(const GemmTask& task) {
  QuantGemm<Isa, SixBits<Isa>>::run(task);
}

}  // namespace reprise::kernels::cpu
