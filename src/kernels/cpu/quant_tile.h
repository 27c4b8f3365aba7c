// Integer matrix multiply: what a format unpacks to (the format structs) times how a tile multiplies
// (multiply()), for any instruction set Isa (cpu/<isa>/isa.h).
//
// Invariant: output (r, n) is, for ascending groups g, acc = fma(float(idot), dw * da, acc), then with a
// minimum acc = fma(m, da * sum q, acc); idot is exact. Neither rows nor channels nor the path change that:
//   * few rows: unpack while multiplying, streaming the packed weights once, with software prefetch;
//   * many rows: expand a block of kBlockGroups groups x 2 vectors of channels to bytes and fp32 scales on
//   the stack,
//     then run all rows over it, so that unpacking costs little; partial sums wait in fp32, which loses
//     nothing.
// Included by ISA files only.
#pragma once

#include "kernels/cpu/micro.h"
#include "kernels/cpu/panels.h"

namespace reprise::kernels::cpu {

inline constexpr uint32_t kBlockGroups = 8;     // of the expanded path: 8 x 32 k
inline constexpr uint32_t kBlockRows = 96;      // rows that share an expansion
inline constexpr size_t kPrefetchAhead = 3072;  // bytes, of a packed stream

enum class Zero { kNone, k8, k128, k32 };  // which initial value takes the weights' zero point off

// One vector of channels of a packed panel. `lane_byte` is where its lanes start in each 64-byte vector.
// bytes<S>(g, w): the k steps 2S and 2S + 1 (4 consecutive k each) of group g as unsigned bytes.
template <class Isa>
struct Nibbles {
  static constexpr Zero kZero = Zero::k8;
  static constexpr bool kMin = false, kHalves = false, kSmall = true;
  const std::byte *quants, *scales;
  Nibbles(const std::byte* panel, uint32_t groups, uint32_t lane)
      : quants(panel + lane * 4), scales(panel + size_t{groups} * 256 + lane * 2) {}
  template <int S>
  void bytes(uint32_t g, typename Isa::I w[2]) const {
    const typename Isa::I x = Isa::load_bits(quants + size_t{g} * 256 + S * 64);
    w[0] = Isa::low_nibbles(x);
    w[1] = Isa::high_nibbles(x);
  }
  typename Isa::V scale(uint32_t g, int) const { return Isa::load_half(scales + size_t{g} * 32); }
  typename Isa::V min(uint32_t) const { return Isa::zero(); }
  void prefetch(uint32_t g) const {
    for (int i = 0; i < 4; ++i) __builtin_prefetch(quants + g * 256 + i * 64 + kPrefetchAhead);
  }
};

template <class Isa>
struct NibblesMin : Nibbles<Isa> {
  static constexpr Zero kZero = Zero::kNone;
  static constexpr bool kMin = true;
  NibblesMin(const std::byte* panel, uint32_t groups, uint32_t lane) : Nibbles<Isa>(panel, groups, lane) {}
  typename Isa::V scale(uint32_t g, int) const { return Isa::load_half(this->scales + size_t{g} * 64); }
  typename Isa::V min(uint32_t g) const { return Isa::load_half(this->scales + size_t{g} * 64 + 32); }
};

template <class Isa>
struct Bytes {
  static constexpr Zero kZero = Isa::kSignedBytes ? Zero::kNone : Zero::k128;
  static constexpr bool kMin = false, kHalves = false, kSmall = false;
  const std::byte *quants, *scales;
  Bytes(const std::byte* panel, uint32_t groups, uint32_t lane)
      : quants(panel + lane * 4), scales(panel + size_t{groups} * 512 + lane * 2) {}
  template <int S>
  void bytes(uint32_t g, typename Isa::I w[2]) const {
    w[0] = Isa::load_bits(quants + size_t{g} * 512 + S * 128);
    w[1] = Isa::load_bits(quants + size_t{g} * 512 + S * 128 + 64);
  }
  typename Isa::V scale(uint32_t g, int) const { return Isa::load_half(scales + size_t{g} * 32); }
  typename Isa::V min(uint32_t) const { return Isa::zero(); }
  void prefetch(uint32_t g) const {
    for (int i = 0; i < 8; ++i) __builtin_prefetch(quants + g * 512 + i * 64 + kPrefetchAhead);
  }
};

template <class Isa>
struct SixBits {
  static constexpr Zero kZero = Zero::k32;
  static constexpr bool kMin = false, kHalves = true, kSmall = true;
  const std::byte *quants, *scales, *super;
  SixBits(const std::byte* panel, uint32_t groups, uint32_t lane)
      : quants(panel + lane * 4),
        scales(panel + size_t{groups} * 384 + lane),
        super(panel + size_t{groups} * 416 + lane * 2) {}
  template <int S>
  void bytes(uint32_t g, typename Isa::I w[2]) const {
    const std::byte* at = quants + size_t{g} * 384;
    const typename Isa::I x = Isa::load_bits(at + S * 64), high = Isa::load_bits(at + 256 + S / 2 * 64);
    w[0] = Isa::template with_high_bits<S % 2 * 2>(Isa::low_nibbles(x), high);
    w[1] = Isa::template with_high_bits<S % 2 * 2 + 1>(Isa::high_nibbles(x), high);
  }
  typename Isa::V scale(uint32_t g, int half) const {
    return Isa::mul(Isa::load_half(super + size_t{g / 8} * 32),
                    Isa::load_int8(scales + size_t{g} * 32 + half * 16));
  }
  typename Isa::V min(uint32_t) const { return Isa::zero(); }
  void prefetch(uint32_t g) const {
    for (int i = 0; i < 6; ++i) __builtin_prefetch(quants + g * 384 + i * 64 + kPrefetchAhead);
  }
};

// A block of groups expanded from Format for two vectors of channels: this vector's bytes are `vector` of
// two.
template <class Isa, class Format>
struct Expanded {
  static constexpr Zero kZero = Format::kZero;
  static constexpr bool kMin = Format::kMin, kHalves = Format::kHalves, kSmall = Format::kSmall;
  static constexpr int kLanes = Isa::kLanes, kScales = kHalves ? 2 : 1;
  struct Memory {
    struct Group {
      alignas(64) uint8_t bytes[8][2][kLanes * 4];  // [k step][vector]
      float scales[kScales][2][kLanes];
      float mins[2][kLanes];  // only with kMin
    } groups[kBlockGroups];
  };
  const Memory* memory;
  int vector;
  template <int S>
  void bytes(uint32_t g, typename Isa::I w[2]) const {
    w[0] = Isa::load_bits(memory->groups[g].bytes[2 * S][vector]);
    w[1] = Isa::load_bits(memory->groups[g].bytes[2 * S + 1][vector]);
  }
  typename Isa::V scale(uint32_t g, int half) const {
    return Isa::load(memory->groups[g].scales[half][vector]);
  }
  typename Isa::V min(uint32_t g) const {
    if constexpr (kMin) return Isa::load(memory->groups[g].mins[vector]);
    return Isa::zero();
  }
  void prefetch(uint32_t) const {}

  template <int S>
  static void expand_step(const Format& from, uint32_t first, uint32_t g, Memory& to, int vector) {
    typename Isa::I w[2];
    from.template bytes<S>(first + g, w);
    Isa::store_bytes(to.groups[g].bytes[2 * S][vector], w[0]);
    Isa::store_bytes(to.groups[g].bytes[2 * S + 1][vector], w[1]);
  }
  static void expand(const Format& from, uint32_t first, uint32_t groups, Memory& to, int vector) {
    for (uint32_t g = 0; g < groups; ++g) {
      from.prefetch(first + g);
      expand_step<0>(from, first, g, to, vector);
      expand_step<1>(from, first, g, to, vector);
      expand_step<2>(from, first, g, to, vector);
      expand_step<3>(from, first, g, to, vector);
      for (int half = 0; half < kScales; ++half)
        Isa::store(to.groups[g].scales[half][vector], from.scale(first + g, half));
      if constexpr (kMin) Isa::store(to.groups[g].mins[vector], from.min(first + g));
    }
  }
};

// idot[r][p] += the k steps 2S and 2S + 1 of one group; `a` is [row][32] int8. With kTwo also a second
// operand.
template <class Isa, int R, int P, int S, bool kTwo, class Source>
[[gnu::always_inline]] inline void multiply_step(const Source* w, uint32_t wg, const int8_t (*a)[kGroup],
                                                 typename Isa::I (&idot)[R][P], const int8_t (*a2)[kGroup],
                                                 typename Isa::I (&idot2)[R][P]) {
  using I = typename Isa::I;
  const auto dot = [](I acc, const I bytes[2], const int8_t* at) __attribute__((always_inline)) {
    int32_t first, second;
    __builtin_memcpy(&first, at + S * 8, 4);
    __builtin_memcpy(&second, at + S * 8 + 4, 4);
    if constexpr (Source::kSmall) {
      return Isa::dot_small(Isa::dot_small(acc, bytes[0], Isa::broadcast(first)), bytes[1],
                            Isa::broadcast(second));
    } else {
      return Isa::dot_bytes(Isa::dot_bytes(acc, bytes[0], Isa::broadcast(first)), bytes[1],
                            Isa::broadcast(second));
    }
  };
  I bytes[P][2];
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) w[p].template bytes<S>(wg, bytes[p]);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) {
      idot[r][p] = dot(idot[r][p], bytes[p], a[r]);
      if constexpr (kTwo) idot2[r][p] = dot(idot2[r][p], bytes[p], a2[r]);
    }
}

// The steps of a whole group, or of half `part` of it.
template <class Isa, int R, int P, bool kTwo, class Source>
[[gnu::always_inline]] inline void multiply_part(const Source* w, uint32_t wg, int part,
                                                 const int8_t (*a)[kGroup], typename Isa::I (&idot)[R][P],
                                                 const int8_t (*a2)[kGroup], typename Isa::I (&idot2)[R][P]) {
  if (!Source::kHalves || part == 0) {
    multiply_step<Isa, R, P, 0, kTwo>(w, wg, a, idot, a2, idot2);
    multiply_step<Isa, R, P, 1, kTwo>(w, wg, a, idot, a2, idot2);
  }
  if (!Source::kHalves || part == 1) {
    multiply_step<Isa, R, P, 2, kTwo>(w, wg, a, idot, a2, idot2);
    multiply_step<Isa, R, P, 3, kTwo>(w, wg, a, idot, a2, idot2);
  }
}

// acc[r][p] += `groups` groups for rows r0 .. r0 + R - 1 of the tile and P vectors of channels; x and group
// `wg` of w are the first. The integer product is 128 (w . high) + w . low - zero point: side by side for few
// rows, which unpacks each weight once; one after the other in the same registers for many.
template <class Isa, int R, int P, class Source>
[[gnu::always_inline]] inline void multiply(const Source* w, uint32_t wg, const ActivationGroup* x,
                                            uint32_t row, uint32_t groups, typename Isa::V (&acc)[R][P]) {
  using I = typename Isa::I;
  using V = typename Isa::V;
  constexpr bool kTwo = 3 * R * P <= Isa::kAccumulators;
  const uint32_t r0 = Isa::kGemmRows == kActRows ? 0 : row;
  for (uint32_t end = wg + groups; wg < end; ++wg, ++x) {
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) w[p].prefetch(wg);
    constexpr int kParts = Source::kHalves ? 2 : 1;
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      const auto zero_point = [&](int r) __attribute__((always_inline)) {
        if constexpr (Source::kZero == Zero::k8) return Isa::broadcast(x->minus8[r0 + r]);
        if constexpr (Source::kZero == Zero::k128) return Isa::broadcast(x->minus128[r0 + r]);
        if constexpr (Source::kZero == Zero::k32) return Isa::broadcast(x->minus32[part][r0 + r]);
        return Isa::broadcast(0);
      };
      I idot[R][P], low[R][P];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) {
          idot[r][p] = Isa::broadcast(0);
          low[r][p] = Isa::broadcast(0);
        }
      multiply_part<Isa, R, P, kTwo>(w, wg, part, x->high + r0, idot, x->low + r0, low);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) {
          idot[r][p] = Isa::times128(idot[r][p]);
          if constexpr (kTwo) idot[r][p] = Isa::add(idot[r][p], low[r][p]);
          if constexpr (Source::kZero != Zero::kNone) idot[r][p] = Isa::add(idot[r][p], zero_point(r));
        }
      if constexpr (!kTwo) multiply_part<Isa, R, P, false>(w, wg, part, x->low + r0, idot, x->low + r0, low);
      V scale[P], min[P];
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        scale[p] = w[p].scale(wg, part);
        min[p] = w[p].min(wg);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const V da = Isa::set1(x->scale[r0 + r]);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) {
          acc[r][p] = Isa::fma(Isa::to_float(idot[r][p]), Isa::mul(scale[p], da), acc[r][p]);
          if constexpr (Source::kMin)
            acc[r][p] = Isa::fma(min[p], Isa::set1(x->scaled_sum[r0 + r]), acc[r][p]);
        }
      }
    }
  }
}

template <class Isa>
[[gnu::always_inline]] inline void store_result(float* y, typename Isa::V value, uint32_t channels,
                                                bool add) {
  if (channels >= static_cast<uint32_t>(Isa::kLanes)) {
    Isa::store(y, add ? Isa::add(Isa::load(y), value) : value);
  } else {
    Isa::store_first(y, add ? Isa::add(Isa::load_first(y, channels), value) : value, channels);
  }
}

// The format's vectors number `first`, first + 1, ... of the task's channels.
template <class Isa, class Format>
[[gnu::always_inline]] inline Format vector_of(const GemmTask& t, uint32_t vector) {
  constexpr uint32_t kPerPanel = kPanel / Isa::kLanes;
  return Format(t.panels + vector / kPerPanel * t.panel_bytes, t.cols / kGroup,
                vector % kPerPanel * Isa::kLanes);
}

template <class Isa, class Format, int R, int P>
void stream_rows(const GemmTask& t, uint32_t row, uint32_t vector) {
  const uint32_t groups = t.cols / kGroup, channel = vector * Isa::kLanes;
  if constexpr (P == 2) {
    const Format w[2] = {vector_of<Isa, Format>(t, vector), vector_of<Isa, Format>(t, vector + 1)};
    typename Isa::V acc[R][2];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = Isa::zero();
    multiply<Isa, R, 2>(w, 0, t.quant + size_t{row / kActRows} * groups, row % kActRows, groups, acc);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      float* y = t.y + (row + r) * t.y_ld + channel;
      store_result<Isa>(y, acc[r][0], t.channels - channel, t.add);
      store_result<Isa>(y + Isa::kLanes, acc[r][1], t.channels - channel - Isa::kLanes, t.add);
    }
  } else {
    const Format w[1] = {vector_of<Isa, Format>(t, vector)};
    typename Isa::V acc[R][1];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) acc[r][0] = Isa::zero();
    multiply<Isa, R, 1>(w, 0, t.quant + size_t{row / kActRows} * groups, row % kActRows, groups, acc);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
      store_result<Isa>(t.y + (row + r) * t.y_ld + channel, acc[r][0], t.channels - channel, t.add);
  }
}

// One register tile of the expanded path: continues the partial sums at `sums` [row][2 vectors], or begins
// them.
template <class Isa, class Source, int R>
void block_rows(const Source w[2], const ActivationGroup* x, uint32_t row, bool begin, uint32_t groups,
                float* sums) {
  typename Isa::V acc[R][2];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < 2; ++p) acc[r][p] = begin ? Isa::zero() : Isa::load(sums + (2 * r + p) * Isa::kLanes);
  multiply<Isa, R, 2>(w, 0, x, row, groups, acc);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
    for (int p = 0; p < 2; ++p) Isa::store(sums + (2 * r + p) * Isa::kLanes, acc[r][p]);
}

// Calls F<R>(args...) for the run-time number of rows in [1, Max].
template <template <int> class F, int Max, class... Args>
[[gnu::always_inline]] inline void with_rows(uint32_t rows, Args&&... args) {
  if constexpr (Max > 1) {
    if (rows < Max) return with_rows<F, Max - 1>(rows, args...);
  }
  F<Max>::run(args...);
}

template <class Isa, class Format>
struct QuantGemm {
  using Block = Expanded<Isa, Format>;
  template <int R>
  struct Stream {
    static void run(const GemmTask& t, uint32_t row, uint32_t vector, uint32_t vectors) {
      if (vectors == 2) {
        stream_rows<Isa, Format, R, 2>(t, row, vector);
      } else {
        stream_rows<Isa, Format, R, 1>(t, row, vector);
      }
    }
  };
  template <int R>
  struct Tile {
    static void run(const Block* w, const ActivationGroup* x, uint32_t row, bool begin, uint32_t groups,
                    float* sums) {
      block_rows<Isa, Block, R>(w, x, row, begin, groups, sums);
    }
  };

  static void run(const GemmTask& t) {
    const uint32_t vectors = (t.channels + Isa::kLanes - 1) / Isa::kLanes;
    for (uint32_t v = 0; v < vectors; v += 2) {
      const uint32_t width = vectors - v < 2 ? 1 : 2;
      if (t.rows <= 2 * Isa::kGemmRows || width == 1) {
        for (uint32_t row = 0; row < t.rows; row += Isa::kGemmRows) {
          const uint32_t rows = t.rows - row < Isa::kGemmRows ? t.rows - row : Isa::kGemmRows;
          with_rows<Stream, Isa::kGemmRows>(rows, t, row, v, width);
        }
      } else {
        for (uint32_t row = 0; row < t.rows; row += kBlockRows)
          expanded(t, row, t.rows - row < kBlockRows ? t.rows - row : kBlockRows, v);
      }
    }
  }

 private:
  static void expanded(const GemmTask& t, uint32_t first_row, uint32_t rows, uint32_t vector) {
    const uint32_t groups = t.cols / kGroup, channel = vector * Isa::kLanes;
    typename Block::Memory memory;
    alignas(64) float sums[kBlockRows][2 * Isa::kLanes];
    const Format from[2] = {vector_of<Isa, Format>(t, vector), vector_of<Isa, Format>(t, vector + 1)};
    const Block w[2] = {{&memory, 0}, {&memory, 1}};
    for (uint32_t g = 0; g < groups; g += kBlockGroups) {
      const uint32_t count = groups - g < kBlockGroups ? groups - g : kBlockGroups;
      for (int p = 0; p < 2; ++p) Block::expand(from[p], g, count, memory, p);
      for (uint32_t row = 0; row < rows; row += Isa::kGemmRows) {
        const uint32_t tile = rows - row < Isa::kGemmRows ? rows - row : Isa::kGemmRows;
        const uint32_t at = first_row + row;
        if (g + kBlockGroups >= groups) {  // the results' lines arrive while the last block is computed
          for (uint32_t r = 0; r < tile; ++r) {
            __builtin_prefetch(t.y + (at + r) * t.y_ld + channel, 1, 2);
            __builtin_prefetch(t.y + (at + r) * t.y_ld + channel + 16, 1, 2);
          }
        }
        with_rows<Tile, Isa::kGemmRows>(tile, w, t.quant + size_t{at / kActRows} * groups + g, at % kActRows,
                                        g == 0, count, sums[row]);
      }
    }
    for (uint32_t row = 0; row < rows; ++row) {
      float* y = t.y + (first_row + row) * t.y_ld + channel;
      store_result<Isa>(y, Isa::load(sums[row]), t.channels - channel, t.add);
      store_result<Isa>(y + Isa::kLanes, Isa::load(sums[row] + Isa::kLanes),
                        t.channels - channel - Isa::kLanes, t.add);
    }
  }
};

}  // namespace reprise::kernels::cpu
