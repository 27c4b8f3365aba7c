#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/micro_kernels.h"

namespace reprise::kernels::cpu {
constinit const MicroKernels kAvx512 = micro_kernels<Avx512>("avx512", kAvx512Gemm);
}  // namespace reprise::kernels::cpu
