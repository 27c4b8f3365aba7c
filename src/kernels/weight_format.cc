// Design: one loop per format, from the definitions in the header. Products d * q are exact in fp32 (11 + 8
// bits), so a dequantised weight has at most the one rounding of "+ m".
#include "kernels/weight_format.h"

#include "base/check.h"

namespace reprise::kernels {

const char* name(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return "F32";
    case WeightType::kF16:
      return "F16";
    case WeightType::kBF16:
      return "BF16";
    case WeightType::kQ8_0:
      return "Q8_0";
    case WeightType::kQ4_0:
      return "Q4_0";
    case WeightType::kQ4_1:
      return "Q4_1";
    case WeightType::kQ6_K:
      return "Q6_K";
  }
  CHECK(false, "weight type {}", static_cast<int>(type));
  return "";
}

size_t block_elements(WeightType type) {
  switch (type) {
    case WeightType::kF32:
    case WeightType::kF16:
    case WeightType::kBF16:
      return 1;
    case WeightType::kQ8_0:
    case WeightType::kQ4_0:
    case WeightType::kQ4_1:
      return 32;
    case WeightType::kQ6_K:
      return 256;
  }
  CHECK(false, "weight type {}", static_cast<int>(type));
  return 0;
}

size_t block_bytes(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return 4;
    case WeightType::kF16:
    case WeightType::kBF16:
      return 2;
    case WeightType::kQ8_0:
      return 34;
    case WeightType::kQ4_0:
      return 18;
    case WeightType::kQ4_1:
      return 20;
    case WeightType::kQ6_K:
      return 210;
  }
  CHECK(false, "weight type {}", static_cast<int>(type));
  return 0;
}

size_t row_bytes(WeightType type, uint32_t cols) {
  CHECK(cols % block_elements(type) == 0, "{} columns are not whole {} blocks", cols, name(type));
  return cols / block_elements(type) * block_bytes(type);
}

void read_q6k(const std::byte* block, Q6KBlock& out) {
  const auto* low = reinterpret_cast<const uint8_t*>(block);
  const uint8_t* high = low + 128;
  std::memcpy(out.scale, block + 192, 16);
  out.d = load_u16(block + 208);
  for (int half = 0; half < 2; ++half, low += 64, high += 32) {
    uint8_t* q = out.q + half * 128;
    for (int i = 0; i < 32; ++i) {
      q[i] = static_cast<uint8_t>((low[i] & 15) | (high[i] & 3) << 4);
      q[i + 32] = static_cast<uint8_t>((low[i + 32] & 15) | (high[i] >> 2 & 3) << 4);
      q[i + 64] = static_cast<uint8_t>(low[i] >> 4 | (high[i] >> 4 & 3) << 4);
      q[i + 96] = static_cast<uint8_t>(low[i + 32] >> 4 | (high[i] >> 6) << 4);
    }
  }
}

void dequantize_row(WeightType type, const std::byte* row, uint32_t cols, float* out) {
  const std::byte* block = row;
  switch (type) {
    case WeightType::kF32:
      std::memcpy(out, row, size_t{cols} * 4);
      return;
    case WeightType::kF16:
      for (uint32_t i = 0; i < cols; ++i) out[i] = half_to_float(load_u16(row + 2 * size_t{i}));
      return;
    case WeightType::kBF16:
      for (uint32_t i = 0; i < cols; ++i) out[i] = bf16_to_float(load_u16(row + 2 * size_t{i}));
      return;
    case WeightType::kQ8_0:
      for (uint32_t i = 0; i < cols; i += 32, block += 34) {
        const float d = half_to_float(load_u16(block));
        const auto* q = reinterpret_cast<const int8_t*>(block + 2);
        for (int j = 0; j < 32; ++j) out[i + j] = d * static_cast<float>(q[j]);
      }
      return;
    case WeightType::kQ4_0:
      for (uint32_t i = 0; i < cols; i += 32, block += 18) {
        const float d = half_to_float(load_u16(block));
        const auto* q = reinterpret_cast<const uint8_t*>(block + 2);
        for (int j = 0; j < 16; ++j) {
          out[i + j] = d * static_cast<float>((q[j] & 15) - 8);
          out[i + j + 16] = d * static_cast<float>((q[j] >> 4) - 8);
        }
      }
      return;
    case WeightType::kQ4_1:
      for (uint32_t i = 0; i < cols; i += 32, block += 20) {
        const float d = half_to_float(load_u16(block)), m = half_to_float(load_u16(block + 2));
        const auto* q = reinterpret_cast<const uint8_t*>(block + 4);
        for (int j = 0; j < 16; ++j) {
          out[i + j] = d * static_cast<float>(q[j] & 15) + m;
          out[i + j + 16] = d * static_cast<float>(q[j] >> 4) + m;
        }
      }
      return;
    case WeightType::kQ6_K:
      for (uint32_t i = 0; i < cols; i += 256, block += 210) {
        Q6KBlock b;
        read_q6k(block, b);
        const float d = half_to_float(b.d);
        for (int j = 0; j < 256; ++j)
          out[i + j] = d * static_cast<float>(b.scale[j / 16]) * static_cast<float>(b.q[j] - 32);
      }
      return;
  }
}

}  // namespace reprise::kernels
