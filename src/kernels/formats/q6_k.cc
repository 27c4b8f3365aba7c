// Q6_K, 256 weights in runs of 16: nibbles[128], high bits[64], int8 scales[16], f16 d. 64 bytes of nibbles
// hold 128 weights, the first 64 in the low ones; 32 bytes of high bits theirs, as the codes of Q2_K lie.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q6_k(const std::byte* block, WeightBlock& out) {
  for (int i = 0; i < 2; ++i) read_nibbles(block + 64 * i, 64, out.code + 128 * i);
  for (int i = 0; i < 256; ++i) {
    const auto high = static_cast<uint8_t>(block[128 + i / 128 * 32 + i % 32]);
    out.code[i] |= static_cast<uint8_t>((high >> (i / 32 % 4 * 2) & 3) << 4);
  }
  std::memcpy(out.scale, block + 192, 16);
  out.d = load_u16(block + 208);
}

}  // namespace reprise::kernels
