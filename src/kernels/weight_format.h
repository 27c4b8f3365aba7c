// How a model file stores a row of weights: the exact fp32 value of each. Blocks as in GGUF (ggml's
// block_q8_0, block_q4_0, block_q4_1, block_q6_K; fp16 scales, little-endian).
//   Q8_0  32 weights: f16 d, int8 q[32]                         w = d q
//   Q4_0  32 weights: f16 d, nibbles q[16]                      w = d (q - 8); low nibbles are weights 0..15
//   Q4_1  32 weights: f16 d, f16 m, nibbles q[16]               w = d q + m
//   Q6_K  256 weights: low nibbles[128], high 2 bits[64], int8 scale[16], f16 d    w = d scale[i / 16] (q -
//   32)
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/table.h"

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

inline uint16_t load_u16(const std::byte* p) {
  uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// The integers and scales of one Q6_K block in natural order: q in [0, 63].
struct Q6KBlock {
  uint8_t q[256];
  int8_t scale[16];
  uint16_t d;  // fp16
};
void read_q6k(const std::byte* block, Q6KBlock& out);

// Fused multiply-add is not used: d q is exact, and so is the one rounding of d q + m everywhere.
void dequantize_row(WeightType type, const std::byte* row, uint32_t cols, float* out);

size_t row_bytes(WeightType type, uint32_t cols);  // cols is whole blocks

}  // namespace reprise::kernels
