// Q2_K, 256 weights in runs of 16: uint8[16] (s low, t high nibble), codes[64], f16 d, f16 m. 32 bytes of
// codes hold 128 weights: bits 0 and 1 the first 32, bits 2 and 3 the next, and so on.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q2_k(const std::byte* block, WeightBlock& out) {
  for (int i = 0; i < 16; ++i) {
    const auto pair = static_cast<uint8_t>(block[i]);
    out.scale[i] = pair & 15;
    out.minimum[i] = pair >> 4;
  }
  for (int i = 0; i < 256; ++i)
    out.code[i] = static_cast<uint8_t>(block[16 + i / 128 * 32 + i % 32]) >> (i / 32 % 4 * 2) & 3;
  out.d = load_u16(block + 80);
  out.m = load_u16(block + 82);
}

}  // namespace reprise::kernels
