// Design: a reader per type takes a block apart (formats/); one loop makes numbers of it.
#include "kernels/weight_format.h"

#include "base/check.h"
#include "kernels/table.h"

namespace reprise::kernels {

namespace {
// In the order of WeightType.
constexpr BlockReader kReaders[kWeightTypes] = {
    nullptr,   nullptr,   nullptr,   read_q8_0, read_q4_0, read_q4_1,   read_q5_0,   read_q5_1,
    read_q2_k, read_q3_k, read_q4_k, read_q5_k, read_q6_k, read_iq4_nl, read_iq4_xs, read_mxfp4,
};

void dequantize_block(const WeightFormat& format, const WeightBlock& block, float* out) {
  const bool minimum = has_minimum(format.scaling);
  for (uint32_t first = 0, run = 0; first < format.block; first += format.run, ++run) {
    const float scale = run_scale(format.scaling, block.d, block.scale[run]);
    float values[32];
    for (uint32_t i = 0; i < format.run; ++i) values[i] = scale * code_value(format, block.code[first + i]);
    if (minimum) {
      const float least = run_minimum(format.scaling, block.m, block.minimum[run]);
      for (uint32_t i = 0; i < format.run; ++i) values[i] += least;
    }
    std::memcpy(out + first, values, format.run * sizeof(float));
  }
}
}  // namespace

const char* name(WeightType type) { return format_of(type).name; }
size_t block_elements(WeightType type) { return format_of(type).block; }
size_t block_bytes(WeightType type) { return format_of(type).bytes; }

size_t row_bytes(WeightType type, uint32_t cols) {
  CHECK(cols % block_elements(type) == 0, "{} columns are not whole {} blocks", cols, name(type));
  return cols / block_elements(type) * block_bytes(type);
}

void read_block(WeightType type, const std::byte* block, WeightBlock& out) {
  const BlockReader read = kReaders[static_cast<int>(type)];
  CHECK(read, "{} has no blocks", name(type));
  read(block, out);
}

float run_scale(Scaling scaling, uint16_t d, uint8_t s) {
  switch (scaling) {
    case Scaling::kHalf:
    case Scaling::kHalfMin:
      return half_to_float(d);
    case Scaling::kSigned:
      return half_to_float(d) * static_cast<float>(static_cast<int8_t>(s));
    case Scaling::kPair:
    case Scaling::kNibblePair:
      return half_to_float(d) * static_cast<float>(s);
    case Scaling::kPower:  // the two smallest are subnormal
      return std::bit_cast<float>(s < 2 ? uint32_t{0x00200000} << s : (uint32_t{s} - 1) << 23);
    case Scaling::kNone:
      break;
  }
  CHECK(false, "floats have no scale");
  return 0;
}

float run_minimum(Scaling scaling, uint16_t m, uint8_t t) {
  if (scaling == Scaling::kHalfMin) return half_to_float(m);
  return -(half_to_float(m) * static_cast<float>(t));
}

void dequantize_row(WeightType type, const std::byte* row, uint32_t cols, float* out) {
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
    default:
      break;
  }
  const WeightFormat& format = format_of(type);
  for (uint32_t i = 0; i < cols; i += format.block, row += format.bytes) {
    WeightBlock block;
    read_block(type, row, block);
    dequantize_block(format, block, out + i);
  }
}

}  // namespace reprise::kernels
