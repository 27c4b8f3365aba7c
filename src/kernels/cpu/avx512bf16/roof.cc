#include "kernels/cpu/avx512bf16/isa.h"
#include "kernels/cpu/roof_tile.h"

namespace reprise::kernels::cpu::avx512bf16 {
uint64_t roof_bf16(uint64_t rounds, double* sum) { return RoofTile<Avx512Bf16>::bf16(rounds, sum); }
}  // namespace reprise::kernels::cpu::avx512bf16
