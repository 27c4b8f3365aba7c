// The matrix multiply kernels of this instruction set, one per packing.
#pragma once

#include "kernels/cpu/micro.h"

namespace reprise::kernels::cpu::avx512 {

void gemm_f32(const GemmTask& task);
void gemm_f16(const GemmTask& task);
void gemm_bf16(const GemmTask& task);
void gemm_bytes(const GemmTask& task);
void gemm_nibbles(const GemmTask& task);
void gemm_nibbles_min(const GemmTask& task);
void gemm_six_bits(const GemmTask& task);

}  // namespace reprise::kernels::cpu::avx512
