// All micro-kernels of an instruction set, from the tile templates. Included by ISA files only.
#pragma once

#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/elementwise_tile.h"
#include "kernels/cpu/micro.h"

namespace reprise::kernels::cpu {

template <class Isa, class Bf16 = KvBf16<Isa>>
constexpr MicroKernels micro_kernels(const char* name, const GemmKernels& gemm) {
  return {
      name,
      &gemm,
      Elementwise<Isa>::quantize_row,
      {Attention<Isa, Bf16>::attend, Attention<Isa, KvInt8<Isa>>::attend},  // in the order of KvType
      Attention<Isa, Bf16>::merge,
      Elementwise<Isa>::rms_norm,
      Elementwise<Isa>::rope,
      Elementwise<Isa>::rope_interleaved,
      Elementwise<Isa>::silu_gate,
      Elementwise<Isa>::gelu_gate,
      Elementwise<Isa>::clamped_silu_gate,
      Elementwise<Isa>::add_weighted,
  };
}

}  // namespace reprise::kernels::cpu
