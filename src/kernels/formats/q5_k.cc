// Q5_K, 256 weights in runs of 32: f16 d, f16 m, pairs[12], fifth bits[32], nibbles[128] as in Q4_K. Byte j
// of the fifth bits has those of weights j, j + 32, j + 64, ... from its lowest bit on.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q5_k(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  out.m = load_u16(block + 2);
  read_six_bit_pairs(block + 4, out.scale, out.minimum);
  for (int i = 0; i < 4; ++i) read_nibbles(block + 48 + 32 * i, 32, out.code + 64 * i);
  for (int i = 0; i < 256; ++i)
    out.code[i] |= static_cast<uint8_t>((static_cast<uint8_t>(block[16 + i % 32]) >> i / 32 & 1) << 4);
}

}  // namespace reprise::kernels
