// Attention of query rows over one part (at most 512 keys) of one kv head's pages: blocks of kBlock keys,
// online softmax from block to block (Dao et al. 2022; Milakov and Gimelshein 2018). Scores have a token in
// each lane, outputs a dimension, so nothing is transposed. K and V are pairs of bf16 or int8, unpacked in
// registers and multiplied in fp32, or multiplied as pairs of bf16 with queries and weights rounded alike.
// All sums are fp32.
//
// Invariants, for every row whatever rows share the tile:
//   * a score is one accumulator over ascending pairs of dimensions; an output is o * factor plus p v for
//     ascending pairs of tokens;
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

// How a type of keys and values meets its factors: queries (of pairs of dimensions) and weights (of pairs of
// tokens). `load` takes a vector of pairs as they are kept; `keep` writes a vector of factors, pair by pair,
// and gives them back as rounded; `broadcast` takes one pair of them.

// Two factors and two elements a lane, in fp32.
template <class Isa>
struct InFp32 {
  struct Pairs {
    typename Isa::V even, odd;
  };
  static constexpr size_t kFactorBytes = 8;  // a pair
  [[gnu::always_inline]] static typename Isa::V keep(std::byte* to, typename Isa::V x) {
    Isa::store(reinterpret_cast<float*>(to), x);
    return x;
  }
  [[gnu::always_inline]] static Pairs broadcast(const std::byte* p) {
    const float* pair = reinterpret_cast<const float*>(p);
    return {Isa::set1(pair[0]), Isa::set1(pair[1])};
  }
  [[gnu::always_inline]] static typename Isa::V add_product(typename Isa::V sum, const Pairs& f,
                                                            const Pairs& x) {
    return Isa::fma(f.odd, x.odd, Isa::fma(f.even, x.even, sum));
  }
  // Whatever the second of each pair is.
  [[gnu::always_inline]] static typename Isa::V add_first(typename Isa::V sum, const Pairs& f,
                                                          const Pairs& x) {
    return Isa::fma(f.even, x.even, sum);
  }
};

template <class Isa>
struct KvBf16 : InFp32<Isa> {
  static constexpr size_t kPairBytes = 4;
  static constexpr bool kScaled = false;
  [[gnu::always_inline]] static typename InFp32<Isa>::Pairs load(const std::byte* p) {
    const typename Isa::I pair = Isa::load_bits(p);
    return {Isa::low_bf16(pair), Isa::high_bf16(pair)};
  }
};

// Integers; scale[16] of the tile's tokens behind them is multiplied into scores and weights.
template <class Isa>
struct KvInt8 : InFp32<Isa> {
  static constexpr size_t kPairBytes = 2;
  static constexpr bool kScaled = true;
  [[gnu::always_inline]] static typename InFp32<Isa>::Pairs load(const std::byte* p) {
    const typename Isa::I pair = Isa::load_int8_pairs(p);
    return {Isa::to_float(Isa::template shift_right<16>(Isa::template shift_left<16>(pair))),
            Isa::to_float(Isa::template shift_right<16>(pair))};
  }
};

// As they are kept, for instruction sets that multiply pairs of bf16 (Isa::dot_bf16).
template <class Isa>
struct KvBf16Dot {
  using Pairs = typename Isa::I;
  static constexpr size_t kPairBytes = 4;
  static constexpr size_t kFactorBytes = 4;
  static constexpr bool kScaled = false;
  [[gnu::always_inline]] static Pairs load(const std::byte* p) { return Isa::load_bits(p); }
  [[gnu::always_inline]] static typename Isa::V keep(std::byte* to, typename Isa::V x) {
    return Isa::store_bf16(to, x);
  }
  [[gnu::always_inline]] static Pairs broadcast(const std::byte* p) {
    int32_t pair;
    __builtin_memcpy(&pair, p, sizeof pair);
    return Isa::broadcast(pair);
  }
  [[gnu::always_inline]] static typename Isa::V add_product(typename Isa::V sum, Pairs f, Pairs x) {
    return Isa::dot_bf16(sum, f, x);
  }
  [[gnu::always_inline]] static typename Isa::V add_first(typename Isa::V sum, Pairs f, Pairs x) {
    return Isa::dot_bf16(sum, Isa::low_half(f), Isa::low_half(x));
  }
};

template <class Isa, class Kv>
struct Attention {
  using V = typename Isa::V;
  using Pairs = typename Kv::Pairs;
  static constexpr size_t kPair = Kv::kPairBytes;
  static constexpr size_t kFactors = Kv::kFactorBytes;  // of a pair
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
    const std::byte* q;  // [dim / 2][rows]: a pair of dimensions' queries side by side
    const uint32_t *start, *limit;
    SoftmaxState state;
    float (*p)[kBlock];  // scores; then, from the start of each row, pairs of weights

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

  // Of row r, from token t of the block on, which is even.
  [[gnu::always_inline]] static std::byte* weights(const Block& b, uint32_t r, size_t t) {
    return reinterpret_cast<std::byte*>(b.p[r]) + t / 2 * kFactors;
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
    const std::byte* q = b.q;
    for (size_t d = 0; d < b.dim; d += 2, q += R * kFactors) {
      if constexpr (T <= 4) {
        Pairs keys[T];
#pragma GCC unroll 16
        for (int t = 0; t < T; ++t) {
          keys[t] = Kv::load(k[t] + d / 2 * kKvTile * kPair);
          if constexpr (kMemoryBound<R>) fetch_v(b, first + t, d);
        }
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
          const Pairs query = Kv::broadcast(q + r * kFactors);
#pragma GCC unroll 16
          for (int t = 0; t < T; ++t) acc[r][t] = Kv::add_product(acc[r][t], query, keys[t]);
        }
      } else {
#pragma GCC unroll 16
        for (int t = 0; t < T; ++t) {
          const Pairs keys = Kv::load(k[t] + d / 2 * kKvTile * kPair);
          if constexpr (kMemoryBound<R>) fetch_v(b, first + t, d);
#pragma GCC unroll 16
          for (int r = 0; r < R; ++r)
            acc[r][t] = Kv::add_product(acc[r][t], Kv::broadcast(q + r * kFactors), keys);
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
      const float* p = b.p[r];
      const V max = Isa::set1(top[r]);
      V sum = Isa::zero();
      for (uint32_t i = first; i < vectors; ++i) {
        V e = exp2<Isa>(Isa::sub(Isa::load(p + i * kLanes), max));
        std::byte* to = weights(b, r, i * kLanes);  // not behind the scores it takes the place of
        // A token that is not seen may have any scale; its weight is not used.
        if constexpr (Kv::kScaled) {
          Kv::keep(to, Isa::mul(e, Isa::load(scales(b, b.v, i))));
        } else {
          e = Kv::keep(to, e);
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
    for (size_t t = begin; t + 2 <= end; t += 2) {
      const std::byte* v = b.v[t / kKvTile] + (t % kKvTile / 2 * b.dim + d) * kPair;
      Pairs values[D];
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) {
        values[i] = Kv::load(v + i * kLanes * kPair);
        if constexpr (kMemoryBound<R>)
          __builtin_prefetch(b.next[t / kKvTile] + (t % kKvTile / 2 * b.dim + d + i * kLanes) * kPair, 0, 2);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Pairs weight = Kv::broadcast(weights(b, row + r, t));
#pragma GCC unroll 16
        for (int i = 0; i < D; ++i) acc[r][i] = Kv::add_product(acc[r][i], weight, values[i]);
      }
    }
    if (end % 2 != 0) {  // the last token's partner in the pair is not seen
      const size_t t = end - 1;
      const std::byte* v = b.v[t / kKvTile] + (t % kKvTile / 2 * b.dim + d) * kPair;
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) {
        const Pairs values = Kv::load(v + i * kLanes * kPair);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
          acc[r][i] = Kv::add_first(acc[r][i], Kv::broadcast(weights(b, row + r, t)), values);
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

  // Of the register tile that begins with `row`.
  static std::byte* queries(const AttentionTask& t, uint32_t row) {
    return reinterpret_cast<std::byte*>(t.scratch) + size_t{row} * (t.kv.dim / 2) * kFactors;
  }

  // The queries of a register tile as Block has them, so that it reads them from one pointer.
  static void transpose(const AttentionTask& t, uint32_t row, uint32_t rows) {
    std::byte* to = queries(t, row);
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t d = 0; d < t.kv.dim; d += kLanes) {
        alignas(64) std::byte pairs[kLanes / 2 * kFactors];
        Kv::keep(pairs, Isa::load(t.q + size_t{row + r} * t.kv.dim + d));
        for (uint32_t i = 0; i < kLanes / 2; ++i)
          __builtin_memcpy(to + (size_t{d / 2 + i} * rows + r) * kFactors, pairs + i * kFactors, kFactors);
      }
  }

  // The tile that begins with `position`.
  static const std::byte* keys_at(const KvHead& kv, uint32_t position) {
    return kv.pages[position / kv.page_tokens] + kv.k_offset +
           position % kv.page_tokens / kKvTile * kv.tile_bytes;
  }

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
    for (uint32_t row = 0; row < t.rows; row += tile_rows)
      transpose(t, row, t.rows - row < tile_rows ? t.rows - row : tile_rows);
    Block b;
    b.dim = dim;
    b.p = p;
    for (b.begin = t.begin; b.begin < t.end; b.begin += kBlock) {
      const uint32_t keys = t.end - b.begin < kBlock ? t.end - b.begin : kBlock;
      for (uint32_t i = 0; i * kKvTile < keys; ++i) {
        const uint32_t position = b.begin + i * kKvTile;
        b.k[i] = keys_at(t.kv, position);
        b.v[i] = b.k[i] + (t.kv.v_offset - t.kv.k_offset);
        b.next[i] = b.v[i];
        const uint32_t later = t.next_begin + i * kKvTile;
        if (position + kBlock < t.end) {
          b.next[i] = keys_at(t.kv, position + kBlock);
        } else if (b.begin + kBlock >= t.end && later < t.next_end) {
          b.next[i] = keys_at(t.next, later);
        }
      }
      for (uint32_t row = 0; row < t.rows; row += tile_rows) {
        b.q = queries(t, row);
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
