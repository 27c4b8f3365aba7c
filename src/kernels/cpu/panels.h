// The packed weight matrix of the SIMD tables, the same for every instruction set: panels of 16 output
// channels, each panel contiguous and 64-byte aligned, so that a lane is a channel and a 64-byte vector is 16
// channels x 4 consecutive k (the operand of VPDPBUSD): a step.
//
// A panel of floats holds 16 values per k. A panel of codes holds, one behind the other for all groups of 32
// k:
//
// clang-format off
//   codes    64 bytes per bit: as many of the planes 8, 4, 2 and 1 bits wide as make up code_bits (5 = 4 + 1), the
//            widest first, with the lowest bits of the codes:
//              8   8 vectors, one a step
//              4   4 vectors: j has step 2j in low and step 2j + 1 in high nibbles
//              2   2 vectors: j has step 4j + f in bit field f
//              1   1 vector: bit s of each byte belongs to step s
//   scales   by Scaling, channels side by side:                               per group           per 8 groups, behind
//              kHalf                                                          f16 d               -
//              kHalfMin                                                       f16 d, m            -
//              kSigned                                                        s of each run       f16 d
//              kPair                                                          s, t                f16 d, -m
//              kNibblePair                                                    s + 16 t of each run  f16 d, -m
//              kPower                                                         s                   -
// clang-format on
// Channels past the last are zero (scale 0).
#pragma once

#include "kernels/cpu/micro.h"

namespace reprise::kernels::cpu {

[[gnu::always_inline]] constexpr size_t group_code_bytes(const WeightFormat& f) {
  return size_t{f.code_bits} * 64;
}
// Offset of the plane of `width` bits in a group's codes: the wider ones are before it.
[[gnu::always_inline]] constexpr size_t plane_offset(const WeightFormat& f, int width) {
  return static_cast<size_t>(f.code_bits & ~(2 * width - 1)) * 64;
}
[[gnu::always_inline]] constexpr size_t group_scale_bytes(const WeightFormat& f) {
  switch (f.scaling) {
    case Scaling::kHalf:
      return 32;
    case Scaling::kHalfMin:
      return 64;
    case Scaling::kSigned:
    case Scaling::kNibblePair:
      return kGroup / f.run * 16;
    case Scaling::kPair:
      return 32;
    case Scaling::kPower:
      return 16;
    case Scaling::kNone:
      break;
  }
  return 0;
}
// Of the 8 groups of a block of 256.
[[gnu::always_inline]] constexpr size_t block_scale_bytes(const WeightFormat& f) {
  switch (f.scaling) {
    case Scaling::kSigned:
      return 32;
    case Scaling::kPair:
    case Scaling::kNibblePair:
      return 64;
    default:
      return 0;
  }
}

[[gnu::always_inline]] constexpr size_t panel_bytes(WeightType type, uint32_t cols) {
  const WeightFormat& f = format_of(type);
  const size_t groups = cols / kGroup;
  const size_t bytes = f.code_bits == 0 ? size_t{cols} * kPanel * f.bytes
                                        : groups * (group_code_bytes(f) + group_scale_bytes(f)) +
                                              groups / 8 * block_scale_bytes(f);
  return (bytes + 63) / 64 * 64;
}

}  // namespace reprise::kernels::cpu
