// Q4_0, 32 weights: f16 d, nibbles[16] (weights 0 .. 15 in the low ones).
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q4_0(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  read_nibbles(block + 2, 16, out.code);
}

}  // namespace reprise::kernels
