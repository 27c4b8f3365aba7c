// MXFP4 (OCP Microscaling Formats 1.0), 32 weights: exponent s (E8M0), nibbles[16] of E2M1. Levels are
// doubled, scales halved.
#include "kernels/formats/formats.h"

namespace reprise::kernels {

void read_mxfp4(const std::byte* block, WeightBlock& out) {
  out.scale[0] = static_cast<uint8_t>(block[0]);
  read_nibbles(block + 1, 16, out.code);
}

}  // namespace reprise::kernels
