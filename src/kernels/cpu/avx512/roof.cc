#include "kernels/cpu/avx512/isa.h"
#include "kernels/cpu/roof_tile.h"

namespace reprise::kernels::cpu::avx512 {

uint64_t roof_int8(uint64_t rounds, double* sum) { return RoofTile<Avx512>::int8(rounds, sum); }
uint64_t roof_fp32(uint64_t rounds, double* sum) { return RoofTile<Avx512>::fp32(rounds, sum); }
uint64_t read(const std::byte* data, size_t bytes) { return RoofTile<Avx512>::read(data, bytes); }

}  // namespace reprise::kernels::cpu::avx512
