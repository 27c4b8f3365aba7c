// Design: one task packs one panel: for each of its 16 channels it reads the source row block by block and
// scatters integers and scales to their places (cpu/panels.h). unpack_row reads the same places back, so that
// a weight is the same number here, in the oracle and as an embedding.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/drivers.h"
#include "kernels/cpu/panels.h"
#include "kernels/weight_format.h"

namespace reprise::kernels::cpu {

namespace {

// Byte of the 64-byte vector that holds 4 consecutive k (k % 4 picks one) of 16 channels.
size_t in_vector(uint32_t channel, uint32_t k) { return channel * 4 + k % 4; }

// Views of one panel; C is the channel within it.
struct Panel {
  std::byte* data;
  uint32_t groups;

  uint8_t* bytes() const { return reinterpret_cast<uint8_t*>(data); }
  uint8_t& byte(uint32_t k, uint32_t c) const { return bytes()[size_t{k / 4} * 64 + in_vector(c, k)]; }
  // The byte with k's nibble (low when k / 4 is even) in groups of `stride` bytes.
  uint8_t& nibble(uint32_t k, uint32_t c, size_t stride) const {
    return bytes()[size_t{k / 32} * stride + size_t{k % 32 / 8} * 64 + in_vector(c, k)];
  }
  uint8_t& high_bits(uint32_t k, uint32_t c) const {
    return bytes()[size_t{k / 32} * 384 + 256 + size_t{k % 32 / 16} * 64 + in_vector(c, k)];
  }
  // 16-bit values [group][16] (or more per group) behind the quants.
  std::byte* after(size_t quant_bytes) const { return data + groups * quant_bytes; }
};

void put_u16(std::byte* p, size_t index, uint16_t value) { std::memcpy(p + 2 * index, &value, sizeof value); }

void pack_nibbles(const Panel& p, uint32_t c, uint32_t g, const uint8_t* q) {
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t value = i < 16 ? q[i] & 15 : q[i - 16] >> 4;
    p.nibble(g * 32 + i, c, 256) |= static_cast<uint8_t>(value << (i / 4 % 2 * 4));
  }
}

void pack_channel(WeightType type, const Panel& p, uint32_t c, const std::byte* row, uint32_t cols) {
  switch (type) {
    case WeightType::kF32:
      for (uint32_t k = 0; k < cols; ++k)
        std::memcpy(p.data + (size_t{k} * 16 + c) * 4, row + size_t{k} * 4, 4);
      return;
    case WeightType::kF16:
    case WeightType::kBF16:
      for (uint32_t k = 0; k < cols; ++k)
        std::memcpy(p.data + (size_t{k} * 16 + c) * 2, row + size_t{k} * 2, 2);
      return;
    case WeightType::kQ8_0:
      for (uint32_t g = 0; g < p.groups; ++g, row += 34) {
        put_u16(p.after(512), size_t{g} * 16 + c, load_u16(row));
        for (uint32_t i = 0; i < 32; ++i) p.byte(g * 32 + i, c) = static_cast<uint8_t>(row[2 + i]) ^ 0x80;
      }
      return;
    case WeightType::kQ4_0:
      for (uint32_t g = 0; g < p.groups; ++g, row += 18) {
        put_u16(p.after(256), size_t{g} * 16 + c, load_u16(row));
        pack_nibbles(p, c, g, reinterpret_cast<const uint8_t*>(row + 2));
      }
      return;
    case WeightType::kQ4_1:
      for (uint32_t g = 0; g < p.groups; ++g, row += 20) {
        put_u16(p.after(256), size_t{g} * 32 + c, load_u16(row));
        put_u16(p.after(256), size_t{g} * 32 + 16 + c, load_u16(row + 2));
        pack_nibbles(p, c, g, reinterpret_cast<const uint8_t*>(row + 4));
      }
      return;
    case WeightType::kQ6_K:
      for (uint32_t b = 0; b < cols / 256; ++b, row += 210) {
        Q6KBlock block;
        read_q6k(row, block);
        put_u16(p.after(416), size_t{b} * 16 + c, block.d);
        for (uint32_t i = 0; i < 16; ++i)
          p.after(384)[(size_t{b} * 16 + i) * 16 + c] = static_cast<std::byte>(block.scale[i]);
        for (uint32_t i = 0; i < 256; ++i) {
          const uint32_t k = b * 256 + i;
          p.nibble(k, c, 384) |= static_cast<uint8_t>((block.q[i] & 15) << (i / 4 % 2 * 4));
          p.high_bits(k, c) |= static_cast<uint8_t>((block.q[i] >> 4) << (i / 4 % 4 * 2));
        }
      }
      return;
  }
}

float nibble_at(const Panel& p, uint32_t k, uint32_t c, size_t stride) {
  return static_cast<float>(p.nibble(k, c, stride) >> (k / 4 % 2 * 4) & 15);
}

float half_at(const std::byte* p, size_t index) { return half_to_float(load_u16(p + 2 * index)); }

}  // namespace

Packing packing_of(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return Packing::kF32;
    case WeightType::kF16:
      return Packing::kF16;
    case WeightType::kBF16:
      return Packing::kBF16;
    case WeightType::kQ8_0:
      return Packing::kBytes;
    case WeightType::kQ4_0:
      return Packing::kNibbles;
    case WeightType::kQ4_1:
      return Packing::kNibblesMin;
    case WeightType::kQ6_K:
      return Packing::kSixBits;
  }
  CHECK(false, "weight type {}", static_cast<int>(type));
  return Packing::kF32;
}

Matrix pack(TaskPool& pool, const MatrixSource& source) {
  const size_t from = row_bytes(source.type, source.cols);
  const size_t to = panel_bytes(packing_of(source.type), source.cols);
  const uint32_t panels = (source.rows + kPanel - 1) / kPanel;
  Matrix matrix{source.type, source.rows, source.cols, Buffer(panels * to)};
  pool.run(panels, [&](size_t task, int) {
    const Panel panel{matrix.data.data() + task * to, source.cols / kGroup};
    const auto first = static_cast<uint32_t>(task) * kPanel;
    for (uint32_t c = 0; c < std::min(kPanel, source.rows - first); ++c)
      pack_channel(source.type, panel, c, source.data + (first + c) * from, source.cols);
  });
  return matrix;
}

void unpack_row(const Matrix& m, uint32_t row, float* out) {
  CHECK(row < m.rows, "row {} of {}", row, m.rows);
  const Panel p{m.data.data() + row / kPanel * panel_bytes(packing_of(m.type), m.cols), m.cols / kGroup};
  const uint32_t c = row % kPanel;
  for (uint32_t k = 0; k < m.cols; ++k) {
    const size_t g = k / 32;
    switch (m.type) {
      case WeightType::kF32:
        std::memcpy(out + k, p.data + (size_t{k} * 16 + c) * 4, 4);
        break;
      case WeightType::kF16:
        out[k] = half_at(p.data, size_t{k} * 16 + c);
        break;
      case WeightType::kBF16:
        out[k] = bf16_to_float(load_u16(p.data + (size_t{k} * 16 + c) * 2));
        break;
      case WeightType::kQ8_0:
        out[k] = half_at(p.after(512), g * 16 + c) * static_cast<float>(p.byte(k, c) - 128);
        break;
      case WeightType::kQ4_0:
        out[k] = half_at(p.after(256), g * 16 + c) * (nibble_at(p, k, c, 256) - 8);
        break;
      case WeightType::kQ4_1:
        out[k] = half_at(p.after(256), g * 32 + c) * nibble_at(p, k, c, 256) +
                 half_at(p.after(256), g * 32 + 16 + c);
        break;
      case WeightType::kQ6_K: {
        const int high = p.high_bits(k, c) >> (k / 4 % 4 * 2) & 3;
        const auto scale = static_cast<int8_t>(p.after(384)[size_t{k / 16} * 16 + c]);
        out[k] = half_at(p.after(416), size_t{k / 256} * 16 + c) * static_cast<float>(scale) *
                 (nibble_at(p, k, c, 384) + static_cast<float>(high * 16 - 32));
        break;
      }
    }
  }
}

}  // namespace reprise::kernels::cpu
