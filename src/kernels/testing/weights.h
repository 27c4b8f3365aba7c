// Random matrices in file form, for tests of all weight types.
#pragma once

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/table.h"
#include "kernels/weight_format.h"

namespace reprise::kernels::testing {

inline std::vector<WeightType> every_type() {
  std::vector<WeightType> types;
  for (int i = 0; i < kWeightTypes; ++i) types.push_back(static_cast<WeightType>(i));
  return types;
}

// fp16 values of modest size, with a few zeros, negatives and subnormals.
inline uint16_t some_half(std::mt19937& random) {
  switch (random() % 16) {
    case 0:
      return 0;
    case 1:
      return static_cast<uint16_t>(random() % 0x400);
    default:
      return static_cast<uint16_t>((random() & 0x83ff) | (5 + random() % 6) << 10);
  }
}

// Where a block's fp16 numbers are.
inline std::vector<size_t> halves_of(WeightType type) {
  switch (type) {
    case WeightType::kQ2_K:
      return {80, 82};
    case WeightType::kQ3_K:
      return {108};
    case WeightType::kQ6_K:
      return {208};
    case WeightType::kQ4_1:
    case WeightType::kQ5_1:
    case WeightType::kQ4_K:
    case WeightType::kQ5_K:
      return {0, 2};
    case WeightType::kF32:
    case WeightType::kBF16:
    case WeightType::kMXFP4:
      return {};
    default:
      return {0};
  }
}

// A matrix in file form whose integers take all values; some blocks are all zeros or all ones but for their
// scales, which are modest.
inline std::vector<std::byte> random_matrix(WeightType type, uint32_t rows, uint32_t cols, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.05f);
  const size_t row = row_bytes(type, cols), block = block_bytes(type);
  std::vector<std::byte> data(rows * row);
  for (size_t at = 0; at < data.size(); at += block) {
    std::byte* b = data.data() + at;
    const float value = normal(random);
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t kind = random() % 8;
    for (size_t i = 0; i < block; ++i) b[i] = static_cast<std::byte>(kind < 2 ? 0 - kind : random());
    if (type == WeightType::kF32) std::memcpy(b, &bits, 4);
    if (type == WeightType::kBF16) std::memcpy(b, reinterpret_cast<const std::byte*>(&bits) + 2, 2);
    if (type == WeightType::kMXFP4)
      b[0] = static_cast<std::byte>(random() % 20 == 0 ? random() % 3 : 110 + random() % 20);
    for (const size_t half : halves_of(type)) {
      const uint16_t number = some_half(random);
      std::memcpy(b + half, &number, 2);
    }
  }
  return data;
}

}  // namespace reprise::kernels::testing
