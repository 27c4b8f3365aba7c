// Design: one task packs one panel: for each of its 16 channels it takes the source row apart block by block
// (weight_format.h) and puts codes and scales to their places (cpu/panels.h). unpack_row reads the same
// places back, so that a weight is the same number here, in the oracle and as an embedding.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/drivers.h"
#include "kernels/cpu/panels.h"
#include "kernels/weight_format.h"

namespace reprise::kernels::cpu {

namespace {

constexpr uint16_t kSign = 0x8000;

// One channel of a panel of codes.
class Channel {
 public:
  Channel(const WeightFormat& format, std::byte* panel, uint32_t groups, uint32_t channel)
      : f_(format),
        codes_(reinterpret_cast<uint8_t*>(panel) + size_t{channel} * 4),
        scales_(panel + groups * group_code_bytes(format)),
        super_(scales_ + groups * group_scale_bytes(format)),
        channel_(channel) {}

  void put_code(uint32_t k, uint8_t code) const {
    int below = 0;  // bits of the code in wider planes
    for_planes(k, [&](uint8_t& byte, int width, int shift) {
      byte |= static_cast<uint8_t>((code >> below & ((1 << width) - 1)) << shift);
      below += width;
    });
  }
  uint8_t code(uint32_t k) const {
    int code = 0, below = 0;
    for_planes(k, [&](uint8_t byte, int width, int shift) {
      code |= (byte >> shift & ((1 << width) - 1)) << below;
      below += width;
    });
    return static_cast<uint8_t>(code);
  }

  // Of the run that begins at k.
  void put_scale(uint32_t k, const WeightBlock& block, uint32_t run) const {
    const size_t g = k / kGroup;
    switch (f_.scaling) {
      case Scaling::kHalf:
        put_half(scales_, g, block.d);
        break;
      case Scaling::kHalfMin:
        put_half(scales_, 2 * g, block.d);
        put_half(scales_, 2 * g + 1, block.m);
        break;
      case Scaling::kSigned:
        byte(scales_, k / f_.run) = std::byte{block.scale[run]};
        put_half(super_, g / 8, block.d);
        break;
      case Scaling::kPair:
        byte(scales_, 2 * g) = std::byte{block.scale[run]};
        byte(scales_, 2 * g + 1) = std::byte{block.minimum[run]};
        break;
      case Scaling::kNibblePair:
        byte(scales_, k / f_.run) = static_cast<std::byte>(block.scale[run] | block.minimum[run] << 4);
        break;
      case Scaling::kPower:
        byte(scales_, g) = std::byte{block.scale[run]};
        break;
      case Scaling::kNone:
        break;
    }
    if (f_.scaling == Scaling::kPair || f_.scaling == Scaling::kNibblePair) {
      put_half(super_, g / 8 * 2, block.d);
      put_half(super_, g / 8 * 2 + 1, block.m ^ kSign);
    }
  }
  // What put_scale() was given, as far as the format has it.
  void scale(uint32_t k, WeightBlock& out) const {
    const size_t g = k / kGroup;
    switch (f_.scaling) {
      case Scaling::kHalf:
        out.d = half(scales_, g);
        break;
      case Scaling::kHalfMin:
        out.d = half(scales_, 2 * g);
        out.m = half(scales_, 2 * g + 1);
        break;
      case Scaling::kSigned:
        out.scale[0] = static_cast<uint8_t>(byte(scales_, k / f_.run));
        out.d = half(super_, g / 8);
        break;
      case Scaling::kPair:
        out.scale[0] = static_cast<uint8_t>(byte(scales_, 2 * g));
        out.minimum[0] = static_cast<uint8_t>(byte(scales_, 2 * g + 1));
        break;
      case Scaling::kNibblePair:
        out.scale[0] = static_cast<uint8_t>(byte(scales_, k / f_.run)) & 15;
        out.minimum[0] = static_cast<uint8_t>(byte(scales_, k / f_.run)) >> 4;
        break;
      case Scaling::kPower:
        out.scale[0] = static_cast<uint8_t>(byte(scales_, g));
        break;
      case Scaling::kNone:
        break;
    }
    if (f_.scaling == Scaling::kPair || f_.scaling == Scaling::kNibblePair) {
      out.d = half(super_, g / 8 * 2);
      out.m = half(super_, g / 8 * 2 + 1) ^ kSign;
    }
  }

 private:
  // f(byte, width, shift) for each plane that holds bits of k's code.
  template <class F>
  void for_planes(uint32_t k, F&& f) const {
    uint8_t* group = codes_ + k / kGroup * group_code_bytes(f_);
    const uint32_t step = k % kGroup / 4;
    for (int width = 8; width > 0; width /= 2) {
      if (!(f_.code_bits & width)) continue;
      const uint32_t per_byte = 8 / static_cast<uint32_t>(width);
      f(group[plane_offset(f_, width) + step / per_byte * 64 + k % 4], width,
        static_cast<int>(step % per_byte) * width);
    }
  }
  // Channels lie side by side: element `index` of an array of 16 bytes or halves each.
  std::byte& byte(std::byte* p, size_t index) const { return p[index * kPanel + channel_]; }
  uint16_t half(const std::byte* p, size_t index) const {
    return load_u16(p + 2 * (index * kPanel + channel_));
  }
  void put_half(std::byte* p, size_t index, uint16_t value) const {
    std::memcpy(p + 2 * (index * kPanel + channel_), &value, sizeof value);
  }

  const WeightFormat& f_;
  uint8_t* codes_;  // of this channel in the first step's vector
  std::byte *scales_, *super_;
  uint32_t channel_;
};

void pack_channel(WeightType type, std::byte* panel, uint32_t c, const std::byte* row, uint32_t cols) {
  const WeightFormat& f = format_of(type);
  if (f.code_bits == 0) {
    for (uint32_t k = 0; k < cols; ++k)
      std::memcpy(panel + (size_t{k} * kPanel + c) * f.bytes, row + size_t{k} * f.bytes, f.bytes);
    return;
  }
  const Channel channel(f, panel, cols / kGroup, c);
  WeightBlock block;
  for (uint32_t first = 0; first < cols; first += f.block, row += f.bytes) {
    read_block(type, row, block);
    for (uint32_t i = 0; i < f.block; ++i) channel.put_code(first + i, block.code[i]);
    for (uint32_t run = 0; run < f.block / f.run; ++run) channel.put_scale(first + run * f.run, block, run);
  }
}

}  // namespace

Matrix pack(TaskPool& pool, const MatrixSource& source) {
  const size_t from = row_bytes(source.type, source.cols);
  const size_t to = panel_bytes(source.type, source.cols);
  // Each matrix begins with a panel of its own.
  const uint32_t panels = (source.rows + kPanel - 1) / kPanel;
  Matrix matrix{source.type, source.rows, source.cols, Buffer(source.count * panels * to), source.count};
  pool.run(size_t{source.count} * panels, [&](size_t task, int) {
    const uint32_t first = static_cast<uint32_t>(task % panels) * kPanel;
    const std::byte* rows = source.matrix(task / panels, source.rows * from) + first * from;
    for (uint32_t c = 0; c < std::min(kPanel, source.rows - first); ++c)
      pack_channel(source.type, matrix.data.data() + task * to, c, rows + c * from, source.cols);
  });
  return matrix;
}

void unpack_row(const Matrix& m, uint32_t row, float* out) {
  CHECK(row < size_t{m.rows} * m.count, "row {} of {}", row, size_t{m.rows} * m.count);
  const WeightFormat& f = format_of(m.type);
  const size_t panels = (m.rows + kPanel - 1) / kPanel;
  const uint32_t in_matrix = row % m.rows, c = in_matrix % kPanel;
  // Channel's constructor takes what may be written to; nothing is.
  auto* panel = const_cast<std::byte*>(m.data.data()) +
                (row / m.rows * panels + in_matrix / kPanel) * panel_bytes(m.type, m.cols);
  if (f.code_bits == 0) {
    for (uint32_t k = 0; k < m.cols; ++k)
      dequantize_row(m.type, panel + (size_t{k} * kPanel + c) * f.bytes, 1, out + k);
    return;
  }
  const Channel channel(f, panel, m.cols / kGroup, c);
  WeightBlock block;
  for (uint32_t k = 0; k < m.cols; k += f.run) {
    channel.scale(k, block);
    const float scale = run_scale(f.scaling, block.d, block.scale[0]);
    for (uint32_t i = k; i < k + f.run; ++i) out[i] = scale * code_value(f, channel.code(i));
    if (!has_minimum(f.scaling)) continue;
    const float least = run_minimum(f.scaling, block.m, block.minimum[0]);
    for (uint32_t i = k; i < k + f.run; ++i) out[i] += least;
  }
}

}  // namespace reprise::kernels::cpu
