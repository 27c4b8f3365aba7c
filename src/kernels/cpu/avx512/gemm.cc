// Instantiates the matrix multiply tiles.
#include "kernels/cpu/avx512/gemm.h"

#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/float_tile.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu::avx512 {

void gemm_f32(const GemmTask& task) { FloatGemm<Avx512, LoadF32<Avx512>>::run(task); }
void gemm_f16(const GemmTask& task) { FloatGemm<Avx512, LoadF16<Avx512>>::run(task); }
void gemm_bf16(const GemmTask& task) { FloatGemm<Avx512, LoadBF16<Avx512>>::run(task); }
void gemm_bytes(const GemmTask& task) { QuantGemm<Avx512, Bytes<Avx512>>::run(task); }
void gemm_nibbles(const GemmTask& task) { QuantGemm<Avx512, Nibbles<Avx512>>::run(task); }
void gemm_nibbles_min(const GemmTask& task) { QuantGemm<Avx512, NibblesMin<Avx512>>::run(task); }
void gemm_six_bits(const GemmTask& task) { QuantGemm<Avx512, SixBits<Avx512>>::run(task); }

}  // namespace reprise::kernels::cpu::avx512
