// The matrix multiply kernels of an instruction set, one per weight type. Included by ISA files only.
#pragma once

#include "kernels/cpu/float_tile.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu {

template <class Isa, WeightType kType>
void gemm(const GemmTask& task) {
  if constexpr (kType == WeightType::kF32) {
    FloatGemm<Isa, LoadF32<Isa>>::run(task);
  } else if constexpr (kType == WeightType::kF16) {
    FloatGemm<Isa, LoadF16<Isa>>::run(task);
  } else if constexpr (kType == WeightType::kBF16) {
    FloatGemm<Isa, LoadBF16<Isa>>::run(task);
  } else {
    QuantGemm<Isa, kType>::run(task);
  }
}

template <class Isa, int kFirst = 0>
constexpr void fill(GemmKernels& kernels) {
  kernels.of[kFirst] = gemm<Isa, static_cast<WeightType>(kFirst)>;
  if constexpr (kFirst + 1 < kWeightTypes) fill<Isa, kFirst + 1>(kernels);
}

template <class Isa>
consteval GemmKernels gemm_kernels() {
  GemmKernels kernels{};
  fill<Isa>(kernels);
  return kernels;
}

}  // namespace reprise::kernels::cpu
