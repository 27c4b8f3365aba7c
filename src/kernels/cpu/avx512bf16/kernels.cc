// AVX-512's kernels, but attention over bf16 multiplies keys and values as they are kept.
#include "kernels/cpu/avx512bf16/isa.h"
#include "kernels/cpu/micro_kernels.h"

namespace reprise::kernels::cpu {
constinit const MicroKernels kAvx512Bf16 =
    micro_kernels<Avx512Bf16, KvBf16Dot<Avx512Bf16>>("avx512bf16", kAvx512Gemm);
}  // namespace reprise::kernels::cpu
