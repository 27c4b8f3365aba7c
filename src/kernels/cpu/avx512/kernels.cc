#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/micro_kernels.h"

namespace reprise::kernels::cpu {
extern template struct GemmEntries<Avx512>;  // in gemm.cc
constinit const MicroKernels kAvx512 = micro_kernels<Avx512>("avx512");
}  // namespace reprise::kernels::cpu
