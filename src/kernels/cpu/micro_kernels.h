// All micro-kernels of an instruction set, from the tile templates. Included by ISA files only.
#pragma once

#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/elementwise_tile.h"
#include "kernels/cpu/gemm_entries.h"

namespace reprise::kernels::cpu {

template <class Isa>
constexpr MicroKernels micro_kernels(const char* name) {
  using Gemm = GemmEntries<Isa>;
  return {
      name,
      // In the order of Packing.
      {Gemm::f32, Gemm::f16, Gemm::bf16, Gemm::bytes, Gemm::nibbles, Gemm::nibbles_min, Gemm::six_bits},
      Elementwise<Isa>::quantize_row,
      Attention<Isa>::attend,
      Attention<Isa>::merge,
      Elementwise<Isa>::rms_norm,
      Elementwise<Isa>::rope,
      Elementwise<Isa>::rope_interleaved,
      Elementwise<Isa>::swiglu,
  };
}

}  // namespace reprise::kernels::cpu
