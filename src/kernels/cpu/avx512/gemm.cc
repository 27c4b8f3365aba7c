#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/gemm_entries.h"

namespace reprise::kernels::cpu {
template struct GemmEntries<Avx512>;
}  // namespace reprise::kernels::cpu
