// Attention of query rows over one part (at most 512 keys) of one kv head's pages: blocks of kBlock keys,
// online softmax from block to block (Dao et al. 2022; Milakov and Gimelshein 2018). Scores have a token in
// each lane, outputs a dimension, so nothing is transposed; K and V are pairs of bf16 or int8 unpacked in
// registers, all sums are fp32.
//
// Invariants, for every row whatever rows share the tile:
//   * a score is one accumulator over ascending dimensions; an output is o * factor plus p v for ascending
//   tokens;
//   * blocks start at multiples of kBlock from `begin`; a block that the row does not reach multiplies by
//   exactly 1
//     and adds exactly 0 to its sum;
//   * keys before a row's start and from its limit on: the score is replaced (a NaN cannot pass), and V is
//   not read for that row, but for the partner in its pair of a start that is odd: it is multiplied by 0.
// Included by ISA files only.
#pragma once

#include "kernels/cpu/exp2.h"
#include "kernels/cpu/micro.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu {

inline constexpr float kNoScore = -1e30f;

// Pairs of elements as they are kept: the first and second of each, for a vector of pairs.
template <class Isa>
struct KvBf16 {
  static constexpr size_t kPairBytes = 4;
  static constexpr bool kScaled = false;
  [[gnu::always_inline]] static void load(const std::byte* p, typename Isa::V& even, typename Isa::V& odd) {
    const typename Isa::I pair = Isa::load_bits(p);
    even = Isa::low_bf16(pair);
    odd = Isa::high_bf16(pair);
  }
};
// Integers; scale[16] of the tile's tokens behind them is multiplied into scores and weights.
template <class Isa>
struct KvInt8 {
  static constexpr size_t kPairBytes = 2;
  static constexpr bool kScaled = true;
  [[gnu::always_inline]] static void load(const std::byte* p, typename Isa::V& even, typename Isa::V& odd) {
    const typename Isa::I pair = Isa::load_int8_pairs(p);
    even = Isa::to_float(Isa::template shift_right<16>(Isa::template shift_left<16>(pair)));
    odd = Isa::to_float(Isa::template shift_right<16>(pair));
  }
};

template <class Isa, class Kv>
struct Attention {
  using V = typename Isa::V;
  static constexpr size_t kPair = Kv::kPairBytes;
  static constexpr uint32_t kBlock = kKvBlock;
  static constexpr uint32_t kLanes = Isa::kLanes;
  static constexpr uint32_t kRows = Isa::kAttentionRows;
  static constexpr uint32_t kVectorsPerTile = kKvTile / kLanes;
  static constexpr uint32_t kBlockTiles = kBlock / kKvTile;

  // So few rows that K and V may arrive slower than they are used.
  template <int R>
  static constexpr bool kMemoryBound = R <= 8;

  // One block of keys for one register tile of rows.
  struct Block {
    const std::byte *k[kBlockTiles], *v[kBlockTiles];
    const std::byte* next[kBlockTiles];  // K of the block after this one, to be fetched meanwhile; or V again
    uint32_t begin;                      // first key
    uint32_t dim;
    const float* q;  // [dim][rows]: a dimension's queries side by side
    const uint32_t *start, *limit;
    SoftmaxState state;
    float (*p)[kBlock];  // scores, then weights

    uint32_t in_block(uint32_t position) const {
      const uint32_t passed = position > begin ? position - begin : 0;
      return passed < kBlock ? passed : kBlock;
    }
  };

  // Of the tokens of vector i of the block.
  [[gnu::always_inline]] static const float* scales(const Block& b, const std::byte* const* tiles,
                                                    uint32_t i) {
    return reinterpret_cast<const float*>(tiles[i / kVectorsPerTile] + size_t{kKvTile} * b.dim) +
           i % kVectorsPerTile * kLanes;
  }

  // Few rows: memory is the limit, and each K line read, of vector i, asks for the V line of the same place.
  // As far as L2: what L1 can wait for at once is too little for a core's share of DRAM.
  [[gnu::always_inline]] static void fetch_v(const Block& b, uint32_t i, size_t d) {
    if (i % kVectorsPerTile == 0)
      __builtin_prefetch(b.v[i / kVectorsPerTile] + d / 2 * kKvTile * kPair, 0, 2);
  }

  // Scores of T vectors of tokens, from vector `first` on.
  template <int R, int T>
  [[gnu::always_inline]] static void scores(const Block& b, uint32_t first) {
    const std::byte* k[T];
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t)
      k[t] = b.k[(first + t) / kVectorsPerTile] + (first + t) % kVectorsPerTile * kLanes * kPair;
    V acc[R][T];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int t = 0; t < T; ++t) acc[r][t] = Isa::zero();
    const float* q = b.q;
    for (size_t d = 0; d < b.dim; d += 2, q += 2 * R) {
      if constexpr (T <= 4) {
        V even[T], odd[T];
#pragma GCC unroll 16
        for (int t = 0; t < T; ++t) {
          Kv::load(k[t] + d / 2 * kKvTile * kPair, even[t], odd[t]);
          if constexpr (kMemoryBound<R>) fetch_v(b, first + t, d);
        }
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
          const V q0 = Isa::set1(q[r]), q1 = Isa::set1(q[R + r]);
#pragma GCC unroll 16
          for (int t = 0; t < T; ++t) acc[r][t] = Isa::fma(q1, odd[t], Isa::fma(q0, even[t], acc[r][t]));
        }
      } else {
#pragma GCC unroll 16
        for (int t = 0; t < T; ++t) {
          V even, odd;
          Kv::load(k[t] + d / 2 * kKvTile * kPair, even, odd);
          if constexpr (kMemoryBound<R>) fetch_v(b, first + t, d);
#pragma GCC unroll 16
          for (int r = 0; r < R; ++r)
            acc[r][t] = Isa::fma(Isa::set1(q[R + r]), odd, Isa::fma(Isa::set1(q[r]), even, acc[r][t]));
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int t = 0; t < T; ++t) Isa::store(&b.p[r][(first + t) * kLanes], acc[r][t]);
  }

  // Scores to weights for R rows over vectors [first, vectors); updates max and sum, gives the factors of the
  // old state.
  template <int R>
  [[gnu::always_inline]] static void weigh(const Block& b, uint32_t first, uint32_t vectors, float* factor) {
    float top[kRows + kLanes] = {}, change[kRows + kLanes] = {};
    for (int r = 0; r < R; ++r) {
      const uint32_t unseen = b.in_block(b.start[r]), seen = b.in_block(b.limit[r]);
      const V never = Isa::set1(-__builtin_inff());
      float* p = b.p[r];
      V most = Isa::set1(b.state.max[r]);
      for (uint32_t i = first; i < vectors; ++i) {
        const uint32_t at = i * kLanes;
        V s = Isa::load(p + at);
        if constexpr (Kv::kScaled) {
          s = Isa::mul(s, Isa::load(scales(b, b.k, i)));
          Isa::store(p + at, s);
        }
        if (seen < at + kLanes) {
          s = Isa::keep_first(s, seen > at ? seen - at : 0, never);
          Isa::store(p + at, s);
        }
        if (unseen > at) {
          s = Isa::keep_first(never, unseen - at, s);
          Isa::store(p + at, s);
        }
        most = Isa::max(most, s);
      }
      top[r] = Isa::max(most);
      change[r] = b.state.max[r] - top[r];
      b.state.max[r] = top[r];
    }
    for (int r = 0; r < R; r += kLanes) Isa::store(factor + r, exp2<Isa>(Isa::load(change + r)));
    for (int r = 0; r < R; ++r) {
      float* p = b.p[r];
      const V max = Isa::set1(top[r]);
      V sum = Isa::zero();
      for (uint32_t i = first; i < vectors; ++i) {
        const V e = exp2<Isa>(Isa::sub(Isa::load(p + i * kLanes), max));
        // A token that is not seen may have any scale; its weight is not used.
        if constexpr (Kv::kScaled) {
          Isa::store(p + i * kLanes, Isa::mul(e, Isa::load(scales(b, b.v, i))));
        } else {
          Isa::store(p + i * kLanes, e);
        }
        sum = Isa::add(sum, e);
      }
      b.state.sum[r] = __builtin_fmaf(b.state.sum[r], factor[r], Isa::sum(sum));
    }
  }

  // o[r][d ..] = o * factor + sum of p v over the block's tokens [begin, end), begin even, for R rows and D
  // vectors.
  template <int R, int D>
  [[gnu::always_inline]] static void weighted(const Block& b, uint32_t row, uint32_t d, const float* factor,
                                              uint32_t begin, uint32_t end) {
    V acc[R][D];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const V f = Isa::set1(factor[r]);
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i)
        acc[r][i] = Isa::mul(Isa::load(b.state.o + (row + r) * b.dim + d + i * kLanes), f);
    }
    const float* p = b.p[row];
    for (size_t t = begin; t + 2 <= end; t += 2) {
      const std::byte* v = b.v[t / kKvTile] + (t % kKvTile / 2 * b.dim + d) * kPair;
      V even[D], odd[D];
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) {
        Kv::load(v + i * kLanes * kPair, even[i], odd[i]);
        if constexpr (kMemoryBound<R>)
          __builtin_prefetch(b.next[t / kKvTile] + (t % kKvTile / 2 * b.dim + d + i * kLanes) * kPair, 0, 2);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const V p0 = Isa::set1(p[r * kBlock + t]), p1 = Isa::set1(p[r * kBlock + t + 1]);
#pragma GCC unroll 16
        for (int i = 0; i < D; ++i) acc[r][i] = Isa::fma(p1, odd[i], Isa::fma(p0, even[i], acc[r][i]));
      }
    }
    if (end % 2 != 0) {  // the last token's partner in the pair is not seen
      const size_t t = end - 1;
      const std::byte* v = b.v[t / kKvTile] + (t % kKvTile / 2 * b.dim + d) * kPair;
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) {
        V even, odd;
        Kv::load(v + i * kLanes * kPair, even, odd);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) acc[r][i] = Isa::fma(Isa::set1(p[r * kBlock + t]), even, acc[r][i]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) Isa::store(b.state.o + (row + r) * b.dim + d + i * kLanes, acc[r][i]);
  }

  template <int R>
  static void all_dims(const Block& b, uint32_t row, const float* factor, uint32_t begin, uint32_t end) {
    constexpr int kWide = Isa::kAccumulators / R >= 4 ? 4 : 2;
    uint32_t d = 0;
    for (; d + kWide * kLanes <= b.dim; d += kWide * kLanes)
      weighted<R, kWide>(b, row, d, factor, begin, end);
    for (; d < b.dim; d += kLanes) weighted<R, 1>(b, row, d, factor, begin, end);
  }

  template <int R>
  struct RowTile {
    static void run(const Block& b) {
      // Keys that some row sees, in whole vectors; and those that every row does, from an even one to an even
      // one, which are taken together. A row's others come before and after them.
      const uint32_t first_seen = b.in_block(b.start[0]), seen = b.in_block(b.limit[R - 1]);
      if (seen == 0 || first_seen == kBlock) return;
      const uint32_t first = first_seen / kLanes, vectors = (seen + kLanes - 1) / kLanes;
      const uint32_t begin = b.in_block(b.start[R - 1]) & ~1u, end = b.in_block(b.limit[0]) & ~1u;
      constexpr int kMost = Isa::kAccumulators / R;
      constexpr int T = kMost >= 8 ? 8 : kMost >= 4 ? 4 : 2;
      uint32_t vector = first;
      for (; vector + T <= vectors; vector += T) scores<R, T>(b, vector);
      for (; vector < vectors; ++vector) scores<R, 1>(b, vector);
      float factor[kRows + kLanes];
      weigh<R>(b, first, vectors, factor);
      if ((first_seen & ~1u) < begin)
        for (uint32_t r = 0; r < R; ++r) {
          const uint32_t limit = b.in_block(b.limit[r]);
          all_dims<1>(b, r, factor + r, b.in_block(b.start[r]) & ~1u, limit < begin ? limit : begin);
          factor[r] = 1;
        }
      if (begin <= end) all_dims<R>(b, 0, factor, begin, end);
      const float one = 1;
      const uint32_t rest = begin <= end ? end : begin;
      for (uint32_t r = 0; r < R; ++r)
        if (b.in_block(b.limit[r]) > rest) all_dims<1>(b, r, &one, rest, b.in_block(b.limit[r]));
    }
  };

  static void attend(const AttentionTask& t) {
    const uint32_t dim = t.kv.dim;
    for (uint32_t r = 0; r < t.rows; ++r) {
      t.state.max[r] = kNoScore;
      t.state.sum[r] = 0;
      for (uint32_t d = 0; d < dim; d += kLanes) Isa::store(t.state.o + size_t{r} * dim + d, Isa::zero());
    }
    alignas(64) float p[kRows][kBlock];
    // Even register tiles: 16 rows are 8 + 8, not 12 + 4.
    const uint32_t tiles = (t.rows + kRows - 1) / kRows, tile_rows = (t.rows + tiles - 1) / tiles;
    // Queries of each register tile transposed, so that a tile reads them from one pointer.
    for (uint32_t row = 0; row < t.rows; row += tile_rows) {
      const uint32_t rows = t.rows - row < tile_rows ? t.rows - row : tile_rows;
      float* to = t.scratch + size_t{row} * dim;
      for (uint32_t d = 0; d < dim; ++d)
        for (uint32_t r = 0; r < rows; ++r) *to++ = t.q[size_t{row + r} * dim + d];
    }
    Block b;
    b.dim = dim;
    b.p = p;
    for (b.begin = t.begin; b.begin < t.end; b.begin += kBlock) {
      const uint32_t keys = t.end - b.begin < kBlock ? t.end - b.begin : kBlock;
      for (uint32_t i = 0; i * kKvTile < keys; ++i) {
        const uint32_t position = b.begin + i * kKvTile;
        const std::byte* page = t.kv.pages[position / t.kv.page_tokens];
        const size_t at = position % t.kv.page_tokens / kKvTile * t.kv.tile_bytes;
        b.k[i] = page + t.kv.k_offset + at;
        b.v[i] = page + t.kv.v_offset + at;
        b.next[i] = b.v[i];
        if (position + kBlock < t.end)
          b.next[i] = t.kv.pages[(position + kBlock) / t.kv.page_tokens] + t.kv.k_offset +
                      (position + kBlock) % t.kv.page_tokens / kKvTile * t.kv.tile_bytes;
      }
      for (uint32_t row = 0; row < t.rows; row += tile_rows) {
        b.q = t.scratch + size_t{row} * dim;
        b.start = t.start + row;
        b.limit = t.limit + row;
        b.state = {t.state.max + row, t.state.sum + row, t.state.o + size_t{row} * dim};
        const uint32_t rows = t.rows - row < tile_rows ? t.rows - row : tile_rows;
        with_rows<RowTile, static_cast<int>(kRows)>(rows, b);
      }
    }
  }

  static float power2(float x) {
    float lanes[kLanes];
    Isa::store(lanes, exp2<Isa>(Isa::set1(x)));
    return lanes[0];
  }

  static void merge(const SoftmaxState& into, const SoftmaxState& part, uint32_t rows, uint32_t dim) {
    for (uint32_t r = 0; r < rows; ++r) {
      const float a = into.max[r], b = part.max[r], top = a > b ? a : b;
      const float fa = power2(a - top), fb = power2(b - top);
      into.max[r] = top;
      into.sum[r] = __builtin_fmaf(into.sum[r], fa, part.sum[r] * fb);
      for (uint32_t d = 0; d < dim; d += kLanes) {
        float* o = into.o + size_t{r} * dim + d;
        const V scaled = Isa::mul(Isa::load(part.o + size_t{r} * dim + d), Isa::set1(fb));
        Isa::store(o, Isa::fma(Isa::load(o), Isa::set1(fa), scaled));
      }
    }
  }
};

}  // namespace reprise::kernels::cpu
