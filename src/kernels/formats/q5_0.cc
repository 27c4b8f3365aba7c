// Q5_0, 32 weights: f16 d, fifth bits (uint32), nibbles[16].
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q5_0(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  read_nibbles(block + 6, 16, out.code);
  read_fifth_bits(block + 2, out.code);
}

}  // namespace reprise::kernels
