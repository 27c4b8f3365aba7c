// How a model file stores a row of weights: the exact fp32 value of each. Products of scale and level are
// exact in fp32 for finite scales (11 + 8 + 7 bits at most, of which no type needs more than 24), so a weight
// has at most the one rounding of "+ minimum".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/formats/formats.h"
#include "kernels/weight_type.h"

namespace reprise::kernels {

inline float bf16_to_float(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

inline float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, rest = h & 0x7fff;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);  // inf, NaN
  // Shifted into place, exponents are 112 too small; multiplying by 2^112 repairs that for subnormals as
  // well.
  const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

// `type` has blocks. Fields that the format does not have stay as they are.
void read_block(WeightType type, const std::byte* block, WeightBlock& out);

// Scale and minimum of a run from its numbers (weight_type.h): d and m fp16, s and t the run's bytes.
float run_scale(Scaling scaling, uint16_t d, uint8_t s);
float run_minimum(Scaling scaling, uint16_t m, uint8_t t);
// Level less zero.
inline float code_value(const WeightFormat& format, uint8_t code) {
  return static_cast<float>(
      (format.levels == Levels::kCode ? code : kLevels[static_cast<int>(format.levels)][code]) - format.zero);
}
inline bool has_minimum(Scaling s) {
  return s == Scaling::kHalfMin || s == Scaling::kPair || s == Scaling::kNibblePair;
}

// Fused multiply-add is not used: scale * level is exact, and so is the one rounding of "+ minimum"
// everywhere.
void dequantize_row(WeightType type, const std::byte* row, uint32_t cols, float* out);

size_t row_bytes(WeightType type, uint32_t cols);  // cols is whole blocks

}  // namespace reprise::kernels
