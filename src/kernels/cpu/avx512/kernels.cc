// The micro-kernels of this instruction set: attention and row operations instantiated, and the list of all.
#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/avx512/gemm.h"
#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/elementwise_tile.h"

namespace reprise::kernels::cpu {

// In the order of Packing.
const MicroKernels kAvx512 = {
    "avx512",
    {avx512::gemm_f32, avx512::gemm_f16, avx512::gemm_bf16, avx512::gemm_bytes, avx512::gemm_nibbles,
     avx512::gemm_nibbles_min, avx512::gemm_six_bits},
    Elementwise<Avx512>::quantize_row,
    Attention<Avx512>::attend,
    Attention<Avx512>::merge,
    Elementwise<Avx512>::rms_norm,
    Elementwise<Avx512>::rope,
    Elementwise<Avx512>::rope_interleaved,
    Elementwise<Avx512>::swiglu,
};

}  // namespace reprise::kernels::cpu
