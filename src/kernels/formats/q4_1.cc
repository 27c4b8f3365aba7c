// Q4_1, 32 weights: f16 d, f16 m, nibbles[16].
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q4_1(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  out.m = load_u16(block + 2);
  read_nibbles(block + 4, 16, out.code);
}

}  // namespace reprise::kernels
