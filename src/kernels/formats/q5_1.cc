// Q5_1, 32 weights: f16 d, f16 m, fifth bits (uint32), nibbles[16].
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q5_1(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  out.m = load_u16(block + 2);
  read_nibbles(block + 8, 16, out.code);
  read_fifth_bits(block + 4, out.code);
}

}  // namespace reprise::kernels
