// IQ4_XS, 256 weights in runs of 32: f16 d, high bits of the scales (uint16, two each), their low nibbles[4],
// nibbles[128] (16 bytes a run); levels as of IQ4_NL. 32 is subtracted from a scale.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_iq4_xs(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  const int high = load_u16(block + 2);
  for (int i = 0; i < 8; ++i) {
    const int low = static_cast<uint8_t>(block[4 + i / 2]) >> (i % 2 * 4) & 15;
    out.scale[i] = static_cast<uint8_t>((low | (high >> (2 * i) & 3) << 4) - 32);
    read_nibbles(block + 8 + 16 * i, 16, out.code + 32 * i);
  }
}

}  // namespace reprise::kernels
