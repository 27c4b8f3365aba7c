// The packed weight matrix of the SIMD tables, the same for every instruction set: panels of 16 output
// channels, each panel contiguous and 64-byte aligned, so that a lane is a channel and a 64-byte vector is 16
// channels x 4 consecutive k (the operand of VPDPBUSD).
//
// clang-format off
//   packing            per group of 32 k                                              then, after the last group   files
//   kBytes             8 vectors of bytes q + 128                                     f16 d[16] per group          Q8_0
//   kNibbles           4 vectors, vector j has k 8j .. 8j + 3 in low                  f16 d[16] per group          Q4_0
//                      and 8j + 4 .. 8j + 7 in high nibbles
//   kNibblesMin        the same                                                       f16 d[16], m[16] per group   Q4_1
//   kSixBits           4 vectors of low nibbles as above, 2 vectors of high bits:     int8 scale[2][16] per group, Q6_K
//                      vector h has k 16h + 4f .. 16h + 4f + 3 in bit field f         then f16 d[16] per 8 groups
//   kF32, kF16, kBF16  16 values per k                                                                             F32, F16, BF16
// clang-format on
// Channels past the last are zero (scale 0).
#pragma once

#include "kernels/cpu/micro.h"

namespace reprise::kernels::cpu {

// Bytes of one panel.
[[gnu::always_inline]] constexpr size_t panel_bytes(Packing packing, uint32_t cols) {
  const size_t groups = cols / kGroup;
  size_t bytes = 0;
  switch (packing) {
    case Packing::kF32:
      bytes = size_t{cols} * 64;
      break;
    case Packing::kF16:
    case Packing::kBF16:
      bytes = size_t{cols} * 32;
      break;
    case Packing::kBytes:
      bytes = groups * (512 + 32);
      break;
    case Packing::kNibbles:
      bytes = groups * (256 + 32);
      break;
    case Packing::kNibblesMin:
      bytes = groups * (256 + 64);
      break;
    case Packing::kSixBits:
      bytes = groups * (384 + 32) + (groups + 7) / 8 * 32;
      break;
    case Packing::kCount:
      break;
  }
  return (bytes + 63) / 64 * 64;
}

}  // namespace reprise::kernels::cpu
