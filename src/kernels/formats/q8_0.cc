// Q8_0, 32 weights: f16 d, int8 q[32]. The code is q + 128.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_q8_0(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  for (int i = 0; i < 32; ++i) out.code[i] = static_cast<uint8_t>(block[2 + i]) ^ 0x80;
}

}  // namespace reprise::kernels
