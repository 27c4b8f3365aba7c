// Q3_K, 256 weights in runs of 16: third bits[32], low bits[64], scales[12], f16 d. Low bits lie as those of
// Q2_K. Byte j of the third bits has those of weights j, j + 32, j + 64, ... from its lowest bit on; set
// means that 4 is not subtracted. Scale i is 6 bits: the low ones in a nibble of byte i % 8, the high ones in
// byte 8 + i % 4; 32 is subtracted.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q3_k(const std::byte* block, WeightBlock& out) {
  for (int i = 0; i < 256; ++i) {
    const auto low = static_cast<uint8_t>(block[32 + i / 128 * 32 + i % 32]);
    const auto high = static_cast<uint8_t>(block[i % 32]);
    out.code[i] = static_cast<uint8_t>((low >> (i / 32 % 4 * 2) & 3) | (high >> i / 32 & 1) << 2);
  }
  for (int i = 0; i < 16; ++i) {
    const int low = static_cast<uint8_t>(block[96 + i % 8]) >> (i / 8 * 4) & 15;
    const int high = static_cast<uint8_t>(block[104 + i % 4]) >> (i / 4 * 2) & 3;
    out.scale[i] = static_cast<uint8_t>((low | high << 4) - 32);
  }
  out.d = load_u16(block + 108);
}

}  // namespace reprise::kernels
