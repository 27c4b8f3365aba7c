// Instantiates the matrix multiply tiles.
#include "kernels/cpu/avx2/gemm.h"

#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/float_tile.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu::avx2 {

void gemm_f32(const GemmTask& task) { FloatGemm<Avx2, LoadF32<Avx2>>::run(task); }
void gemm_f16(const GemmTask& task) { FloatGemm<Avx2, LoadF16<Avx2>>::run(task); }
void gemm_bf16(const GemmTask& task) { FloatGemm<Avx2, LoadBF16<Avx2>>::run(task); }
void gemm_bytes(const GemmTask& task) { QuantGemm<Avx2, Bytes<Avx2>>::run(task); }
void gemm_nibbles(const GemmTask& task) { QuantGemm<Avx2, Nibbles<Avx2>>::run(task); }
void gemm_nibbles_min(const GemmTask& task) { QuantGemm<Avx2, NibblesMin<Avx2>>::run(task); }
void gemm_six_bits(const GemmTask& task) { QuantGemm<Avx2, SixBits<Avx2>>::run(task); }

}  // namespace reprise::kernels::cpu::avx2
