// Q4_K, 256 weights in runs of 32: f16 d, f16 m, pairs[12], nibbles[128] (32 bytes hold 64 weights, the
// first 32 in the low nibbles).
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q4_k(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  out.m = load_u16(block + 2);
  read_six_bit_pairs(block + 4, out.scale, out.minimum);
  for (int i = 0; i < 4; ++i) read_nibbles(block + 16 + 32 * i, 32, out.code + 64 * i);
}

}  // namespace reprise::kernels
