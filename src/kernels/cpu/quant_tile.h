// Integer matrix multiply: what a weight type unpacks to (Packed) times how a tile multiplies (multiply()),
// for any instruction set Isa (cpu/<isa>/isa.h).
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

inline constexpr uint32_t kBlockGroups = 8;   // of the expanded path: 8 x 32 k
inline constexpr uint32_t kBlockRows = 96;    // rows that share an expansion
inline constexpr uint32_t kGroupsAhead = 16;  // of a stream of panels: what is fetched meanwhile

// What multiply() must know of the weights it is given.
struct Kind {
  uint8_t zero;  // subtracted from every byte
  bool minimum;  // a multiple of the activations' sum is added
  bool halves;   // each half of a group has a scale of its own
};

// Whether vector `vector` of a register tile is the first of its panel.
template <class Isa>
constexpr bool leads_panel(int vector) {
  return vector * Isa::kLanes % static_cast<int>(kPanel) == 0;
}

// One vector of channels of a packed panel (cpu/panels.h), whose lanes start at `lane`.
// bytes<S>(g, w): the steps 2S and 2S + 1 (4 consecutive k each) of group g as unsigned bytes.
template <class Isa, WeightType kType>
struct Packed {
  using I = typename Isa::I;
  using V = typename Isa::V;
  static constexpr WeightFormat f = format_of(kType);
  static constexpr Kind kKind = {
      f.zero,
      f.scaling == Scaling::kHalfMin || f.scaling == Scaling::kPair || f.scaling == Scaling::kNibblePair,
      f.run < kGroup};
  static constexpr size_t kCodes = group_code_bytes(f), kScales = group_scale_bytes(f),
                          kSuper = block_scale_bytes(f);
  const std::byte *codes, *scales, *super;
  const std::byte *panel, *next;  // next: the one in this place in the next register tile, to be fetched
  uint32_t groups;
  Packed(const std::byte* panel, const std::byte* next, uint32_t groups, uint32_t lane)
      : codes(panel + lane * 4),
        scales(panel + groups * kCodes +
               lane * (f.scaling == Scaling::kHalf || f.scaling == Scaling::kHalfMin ? 2 : 1)),
        super(panel + groups * (kCodes + kScales) + lane * 2),
        panel(panel),
        next(next),
        groups(groups) {}

  template <int S>
  void bytes(uint32_t g, I w[2]) const {
    const std::byte* at = codes + size_t{g} * kCodes;
    constexpr int first = 2 * S, second = 2 * S + 1;  // steps
    if constexpr (f.code_bits == 8) {
      w[0] = Isa::load_bits(at + first * 64);
      w[1] = Isa::load_bits(at + second * 64);
      return;
    }
    constexpr int above = f.code_bits & 4;  // bits of the nibbles: the next plane's lie above them
    if constexpr (above != 0) {
      const I x = Isa::load_bits(at + S * 64);
      w[0] = Isa::low_nibbles(x);
      w[1] = Isa::high_nibbles(x);
      if constexpr (f.levels != Levels::kCode)
        for (int i = 0; i < 2; ++i) w[i] = Isa::look_up(kLevels[static_cast<int>(f.levels)], w[i]);
    }
    if constexpr (f.code_bits & 2) {
      const I x = Isa::load_bits(at + plane_offset(f, 2) + S / 2 * 64);
      w[0] = join<above == 0>(w[0], Isa::template move_bits<first % 4 * 2, above, 2>(x));
      w[1] = join<above == 0>(w[1], Isa::template move_bits<second % 4 * 2, above, 2>(x));
    }
    if constexpr (f.code_bits & 1) {
      const I x = Isa::load_bits(at + plane_offset(f, 1));
      w[0] = Isa::bit_or(w[0], Isa::template move_bits<first, f.code_bits - 1, 1>(x));
      w[1] = Isa::bit_or(w[1], Isa::template move_bits<second, f.code_bits - 1, 1>(x));
    }
  }
  V scale(uint32_t g, int half) const {
    if constexpr (f.scaling == Scaling::kHalf || f.scaling == Scaling::kHalfMin)
      return Isa::load_half(scales + size_t{g} * kScales);
    if constexpr (f.scaling == Scaling::kSigned)
      return Isa::mul(Isa::load_half(super + size_t{g / 8} * kSuper),
                      Isa::load_int8(scales + size_t{g} * kScales + half * 16));
    if constexpr (f.scaling == Scaling::kPair)
      return Isa::mul(Isa::load_half(super + size_t{g / 8} * kSuper), Isa::to_float(run_bytes(g, 0)));
    if constexpr (f.scaling == Scaling::kNibblePair)
      return Isa::mul(Isa::load_half(super + size_t{g / 8} * kSuper),
                      Isa::to_float(Isa::low_nibbles(run_bytes(g, half))));
    if constexpr (f.scaling == Scaling::kPower)
      return Isa::scale2(Isa::set1(1), Isa::sub(Isa::to_float(run_bytes(g, 0)), Isa::set1(128)));
  }
  V minimum(uint32_t g, int half) const {
    if constexpr (f.scaling == Scaling::kHalfMin) return Isa::load_half(scales + size_t{g} * kScales + 32);
    if constexpr (f.scaling == Scaling::kPair)
      return Isa::mul(Isa::load_half(super + size_t{g / 8} * kSuper + 32), Isa::to_float(run_bytes(g, 1)));
    if constexpr (f.scaling == Scaling::kNibblePair)
      return Isa::mul(Isa::load_half(super + size_t{g / 8} * kSuper + 32),
                      Isa::to_float(Isa::high_nibbles(run_bytes(g, half))));
    return Isa::zero();
  }
  // While group g is multiplied: the group that comes kGroupsAhead later, here or in the next panel, from its
  // start on. To L2: L1 cannot wait for as many lines at once as a core's share of DRAM takes. (Inlined by
  // force: GCC 12 drops calls of a function that does nothing but prefetch.)
  [[gnu::always_inline]] void prefetch(uint32_t g) const {
    const uint32_t later = g + (kGroupsAhead < groups ? kGroupsAhead : groups);
    const bool here = later < groups;
    const std::byte* from = here ? panel : next;
    const size_t at = here ? later : later - groups;
    for (size_t i = 0; i < f.code_bits; ++i) __builtin_prefetch(from + at * kCodes + i * 64, 0, 2);
    __builtin_prefetch(from + groups * kCodes + at * kScales, 0, 2);
    if constexpr (kSuper > 0) __builtin_prefetch(from + groups * (kCodes + kScales) + at / 8 * kSuper, 0, 2);
  }

 private:
  I run_bytes(uint32_t g, int i) const { return Isa::load_uint8(scales + size_t{g} * kScales + i * 16); }
  template <bool kAlone>
  static I join(I low, I high) {
    if constexpr (kAlone) return high;
    return Isa::bit_or(low, high);
  }
};

// A block of groups expanded for two vectors of channels: this vector's bytes are `vector` of two.
template <class Isa, Kind kOf>
struct Expanded {
  static constexpr Kind kKind = kOf;
  static constexpr int kLanes = Isa::kLanes, kScales = kOf.halves ? 2 : 1;
  struct Memory {
    struct Group {
      alignas(64) uint8_t bytes[8][2][kLanes * 4];  // [step][vector]
      float scales[kScales][2][kLanes];
      float minima[kScales][2][kLanes];  // only with a minimum
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
  typename Isa::V minimum(uint32_t g, int half) const {
    if constexpr (kOf.minimum) return Isa::load(memory->groups[g].minima[half][vector]);
    return Isa::zero();
  }
  [[gnu::always_inline]] void prefetch(uint32_t) const {}
};

template <class Isa, WeightType kType>
struct Expander {
  using From = Packed<Isa, kType>;
  using To = Expanded<Isa, From::kKind>;
  template <int S>
  static void expand_step(const From& from, uint32_t first, uint32_t g, typename To::Memory& to, int vector) {
    typename Isa::I w[2];
    from.template bytes<S>(first + g, w);
    Isa::store_bytes(to.groups[g].bytes[2 * S][vector], w[0]);
    Isa::store_bytes(to.groups[g].bytes[2 * S + 1][vector], w[1]);
  }
  static void expand(const From& from, uint32_t first, uint32_t groups, typename To::Memory& to, int vector) {
    for (uint32_t g = 0; g < groups; ++g) {
      if (leads_panel<Isa>(vector)) from.prefetch(first + g);
      expand_step<0>(from, first, g, to, vector);
      expand_step<1>(from, first, g, to, vector);
      expand_step<2>(from, first, g, to, vector);
      expand_step<3>(from, first, g, to, vector);
      for (int half = 0; half < To::kScales; ++half) {
        Isa::store(to.groups[g].scales[half][vector], from.scale(first + g, half));
        if constexpr (From::kKind.minimum)
          Isa::store(to.groups[g].minima[half][vector], from.minimum(first + g, half));
      }
    }
  }
};

// Activations in bytes: idot[r][p] += the k steps 2S and 2S + 1 of one group; `a` is [row][32]. With kTwo
// also a second operand.
template <class Isa, int R, int P, int S, bool kTwo, class Source>
[[gnu::always_inline]] inline void multiply_step(const Source* w, uint32_t wg, const int8_t (*a)[kGroup],
                                                 typename Isa::I (&idot)[R][P], const int8_t (*a2)[kGroup],
                                                 typename Isa::I (&idot2)[R][P]) {
  using I = typename Isa::I;
  const auto dot = [](I acc, const I bytes[2], const int8_t* at) __attribute__((always_inline)) {
    int32_t first, second;
    __builtin_memcpy(&first, at + S * 8, 4);
    __builtin_memcpy(&second, at + S * 8 + 4, 4);
    return Isa::dot_bytes(Isa::dot_bytes(acc, bytes[0], Isa::broadcast(first)), bytes[1],
                          Isa::broadcast(second));
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

// The same with activations in words: of each four bytes of a weight's lane two are multiplied at a time.
template <class Isa, int R, int P, int S, class Source>
[[gnu::always_inline]] inline void multiply_step(const Source* w, uint32_t wg, const int16_t (*a)[kGroup],
                                                 typename Isa::I (&idot)[R][P]) {
  using I = typename Isa::I;
  I bytes[P][2];
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) w[p].template bytes<S>(wg, bytes[p]);
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    I words[P];
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p)
      words[p] = i % 2 == 0 ? Isa::even_bytes(bytes[p][i / 2]) : Isa::odd_bytes(bytes[p][i / 2]);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, a[r] + S * 8 + i * 2, 4);
      const I q = Isa::broadcast(pair);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        idot[r][p] = Isa::dot_words(idot[r][p], words[p], q);
        Isa::opaque(idot[r][p]);  // else GCC adds the products up first, and spills
      }
    }
  }
}

// The steps of a whole group, or of half `part` of it: step<S>() is multiply_step() of S.
template <bool kHalves, class Step>
[[gnu::always_inline]] inline void multiply_part(int part, const Step& step) {
  if (!kHalves || part == 0) {
    step.template operator()<0>();
    step.template operator()<1>();
  }
  if (!kHalves || part == 1) {
    step.template operator()<2>();
    step.template operator()<3>();
  }
}

// idot[r][p] += w . q of one group, or of half `part` of it, for rows r0 .. r0 + R - 1 of the tile. In bytes
// that is 128 (w . high) + w . low: side by side for few rows, which unpacks each weight once; one after the
// other in the same registers for many.
template <class Isa, int R, int P, class Source>
[[gnu::always_inline]] inline void multiply_group(const Source* w, uint32_t wg, int part,
                                                  const ActivationGroup* x, uint32_t r0,
                                                  typename Isa::I (&idot)[R][P]) {
  using I = typename Isa::I;
  constexpr bool kHalves = Source::kKind.halves;
  if constexpr (Isa::kWords) {
    multiply_part<kHalves>(
        part, [&]<int S>() __attribute__((always_inline)) {
          multiply_step<Isa, R, P, S>(w, wg, x->words + r0, idot);
        });
  } else {
    constexpr bool kTwo = 3 * R * P <= Isa::kAccumulators;
    I low[R][P];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) low[r][p] = Isa::broadcast(0);
    multiply_part<kHalves>(
        part, [&]<int S>() __attribute__((always_inline)) {
          multiply_step<Isa, R, P, S, kTwo>(w, wg, x->bytes.high + r0, idot, x->bytes.low + r0, low);
        });
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        idot[r][p] = Isa::times128(idot[r][p]);
        if constexpr (kTwo) idot[r][p] = Isa::add(idot[r][p], low[r][p]);
      }
    if constexpr (!kTwo) {
      multiply_part<kHalves>(
          part, [&]<int S>() __attribute__((always_inline)) {
            multiply_step<Isa, R, P, S, false>(w, wg, x->bytes.low + r0, idot, x->bytes.low + r0, low);
          });
    }
  }
}

// acc[r][p] += `groups` groups for rows r0 .. r0 + R - 1 of the tile and P vectors of channels; x and group
// `wg` of w are the first.
template <class Isa, int R, int P, class Source>
[[gnu::always_inline]] inline void multiply(const Source* w, uint32_t wg, const ActivationGroup* x,
                                            uint32_t row, uint32_t groups, typename Isa::V (&acc)[R][P]) {
  using I = typename Isa::I;
  using V = typename Isa::V;
  // Tiles of kActRows rows begin at a multiple of it.
  const uint32_t r0 = Isa::kGemmRows == kActRows && P == 2 ? 0 : row;
  for (uint32_t end = wg + groups; wg < end; ++wg, ++x) {
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p)
      if (leads_panel<Isa>(p)) w[p].prefetch(wg);
    constexpr int kParts = Source::kKind.halves ? 2 : 1;
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      const auto zero_point = [&](int r) __attribute__((always_inline)) {
        constexpr uint8_t kZero = Source::kKind.zero;
        if constexpr (Source::kKind.halves) {
          static_assert(kZero == 0 || kZero == 4 || kZero == 32);
          const I minus32 = Isa::broadcast(x->minus32[part][r0 + r]);
          return kZero == 4 ? Isa::template shift_right<3>(minus32) : minus32;  // exact: a multiple of 8
        } else {
          static_assert(kZero == 0 || kZero == 8 || kZero == 16 || kZero == 128);
          if constexpr (kZero == 128) return Isa::broadcast(x->minus128[r0 + r]);
          const I minus8 = Isa::broadcast(x->minus8[r0 + r]);
          return kZero == 16 ? Isa::add(minus8, minus8) : minus8;
        }
      };
      I idot[R][P];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) idot[r][p] = Isa::broadcast(0);
      multiply_group<Isa, R, P>(w, wg, part, x, r0, idot);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p)
          if constexpr (Source::kKind.zero != 0) idot[r][p] = Isa::add(idot[r][p], zero_point(r));
      V scale[P], minimum[P];
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) {
        scale[p] = w[p].scale(wg, part);
        minimum[p] = w[p].minimum(wg, part);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const V da = Isa::set1(x->scale[r0 + r]);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) {
          acc[r][p] = Isa::fma(Isa::to_float(idot[r][p]), Isa::mul(scale[p], da), acc[r][p]);
          if constexpr (Source::kKind.minimum) {
            const float* sum = Source::kKind.halves ? x->scaled_half[part] : x->scaled_sum;
            acc[r][p] = Isa::fma(minimum[p], Isa::set1(sum[r0 + r]), acc[r][p]);
          }
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

// The panel in this one's place in the next register tile; any that is at hand where that is not known.
template <class Isa>
[[gnu::always_inline]] inline const std::byte* panel_after(const GemmTask& t, uint32_t panel) {
  constexpr uint32_t kTogether = 2 * Isa::kLanes / kPanel;
  const uint32_t panels = (t.channels + kPanel - 1) / kPanel, after = panel + kTogether;
  if (after < panels) return t.panels + after * t.panel_bytes;
  return t.next ? t.next + (after - panels) * t.panel_bytes : t.panels;
}

// Vector number `vector` of the task's channels.
template <class Isa, WeightType kType>
[[gnu::always_inline]] inline Packed<Isa, kType> vector_of(const GemmTask& t, uint32_t vector) {
  constexpr uint32_t kPerPanel = kPanel / Isa::kLanes;
  const uint32_t panel = vector / kPerPanel;
  return Packed<Isa, kType>(t.panels + panel * t.panel_bytes, panel_after<Isa>(t, panel), t.cols / kGroup,
                            vector % kPerPanel * Isa::kLanes);
}

template <class Isa, WeightType kType, int R, int P>
void stream_rows(const GemmTask& t, uint32_t row, uint32_t vector) {
  const uint32_t groups = t.cols / kGroup, channel = vector * Isa::kLanes;
  const auto stream = [&](const Packed<Isa, kType>* w) __attribute__((always_inline)) {
    typename Isa::V acc[R][P];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) acc[r][p] = Isa::zero();
    multiply<Isa, R, P>(w, 0, t.quant + size_t{row / kActRows} * groups, row % kActRows, groups, acc);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p)
        store_result<Isa>(t.y + (row + r) * t.y_ld + channel + p * Isa::kLanes, acc[r][p],
                          t.channels - channel - p * Isa::kLanes, t.add);
  };
  if constexpr (P == 2) {
    const Packed<Isa, kType> w[2] = {vector_of<Isa, kType>(t, vector), vector_of<Isa, kType>(t, vector + 1)};
    stream(w);
  } else {
    const Packed<Isa, kType> w[1] = {vector_of<Isa, kType>(t, vector)};
    stream(w);
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

template <class Isa, WeightType kType>
struct QuantGemm {
  static_assert(kActRows % Isa::kGemmRows == 0 && kBlockRows % kActRows == 0,
                "a tile stays within its records");
  using Block = Expanded<Isa, Packed<Isa, kType>::kKind>;
  template <int R>
  struct Stream {
    static void run(const GemmTask& t, uint32_t row, uint32_t vector) {
      stream_rows<Isa, kType, R, 2>(t, row, vector);
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
      if (vectors - v == 1) {  // of an odd number, the last: too rare for tiles of its own
        for (uint32_t row = 0; row < t.rows; ++row) stream_rows<Isa, kType, 1, 1>(t, row, v);
      } else if (t.rows <= 2 * Isa::kGemmRows) {
        for (uint32_t row = 0; row < t.rows; row += Isa::kGemmRows) {
          const uint32_t rows = t.rows - row < Isa::kGemmRows ? t.rows - row : Isa::kGemmRows;
          with_rows<Stream, Isa::kGemmRows>(rows, t, row, v);
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
    const Packed<Isa, kType> from[2] = {vector_of<Isa, kType>(t, vector),
                                        vector_of<Isa, kType>(t, vector + 1)};
    const Block w[2] = {{&memory, 0}, {&memory, 1}};
    for (uint32_t g = 0; g < groups; g += kBlockGroups) {
      const uint32_t count = groups - g < kBlockGroups ? groups - g : kBlockGroups;
      for (int p = 0; p < 2; ++p) Expander<Isa, kType>::expand(from[p], g, count, memory, p);
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
