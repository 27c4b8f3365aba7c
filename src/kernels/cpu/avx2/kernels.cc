#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/micro_kernels.h"

namespace reprise::kernels::cpu {
extern template struct GemmEntries<Avx2>;  // in gemm.cc
constinit const MicroKernels kAvx2 = micro_kernels<Avx2>("avx2");
}  // namespace reprise::kernels::cpu
