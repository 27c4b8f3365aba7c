// The unrolled loops compile for long: a file of their own.
#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/gemm_entries.h"

namespace reprise::kernels::cpu {
constinit const GemmKernels kAvx2Gemm = gemm_kernels<Avx2>();
}  // namespace reprise::kernels::cpu
