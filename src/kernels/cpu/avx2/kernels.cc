#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/micro_kernels.h"

namespace reprise::kernels::cpu {
constinit const MicroKernels kAvx2 = micro_kernels<Avx2>("avx2", kAvx2Gemm);
}  // namespace reprise::kernels::cpu
