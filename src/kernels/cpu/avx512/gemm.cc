// The unrolled loops compile for long: a file of their own.
#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/gemm_entries.h"

namespace reprise::kernels::cpu {
constinit const GemmKernels kAvx512Gemm = gemm_kernels<Avx512>();
}  // namespace reprise::kernels::cpu
