// The micro-kernels of this instruction set: attention and row operations instantiated, and the list of all.
#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/avx2/gemm.h"
#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/elementwise_tile.h"

namespace reprise::kernels::cpu {

// In the order of Packing.
const MicroKernels kAvx2 = {
    "avx2",
    {avx2::gemm_f32, avx2::gemm_f16, avx2::gemm_bf16, avx2::gemm_bytes, avx2::gemm_nibbles,
     avx2::gemm_nibbles_min, avx2::gemm_six_bits},
    Elementwise<Avx2>::quantize_row,
    Attention<Avx2>::attend,
    Attention<Avx2>::merge,
    Elementwise<Avx2>::rms_norm,
    Elementwise<Avx2>::rope,
    Elementwise<Avx2>::rope_interleaved,
    Elementwise<Avx2>::swiglu,
};

}  // namespace reprise::kernels::cpu
