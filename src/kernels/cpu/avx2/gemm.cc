#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/gemm_entries.h"

namespace reprise::kernels::cpu {
template struct GemmEntries<Avx2>;
}  // namespace reprise::kernels::cpu
