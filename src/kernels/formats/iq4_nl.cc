// IQ4_NL, 32 weights: f16 d, nibbles[16]; the 16 levels are not evenly spaced.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_iq4_nl(const std::byte* block, WeightBlock& out) {
  out.d = load_u16(block);
  read_nibbles(block + 2, 16, out.code);
}

}  // namespace reprise::kernels
