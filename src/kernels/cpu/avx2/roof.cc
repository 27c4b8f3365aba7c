#include "kernels/cpu/avx2/isa.h"
#include "kernels/cpu/roof_tile.h"

namespace reprise::kernels::cpu::avx2 {

// The dot product of bytes that AVX2 has: multiply-add of bytes, of words, and an addition.
uint64_t roof_int8(uint64_t rounds, double* sum) { return RoofTile<Avx2>::int8(rounds, sum); }
uint64_t roof_fp32(uint64_t rounds, double* sum) { return RoofTile<Avx2>::fp32(rounds, sum); }
uint64_t read(const std::byte* data, size_t bytes) { return RoofTile<Avx2>::read(data, bytes); }

}  // namespace reprise::kernels::cpu::avx2
