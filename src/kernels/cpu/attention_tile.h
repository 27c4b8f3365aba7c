// Attention of query rows over one part (at most 512 keys) of one kv head's pages: blocks of kBlock keys,
// online softmax from block to block (Dao et al. 2022; Milakov and Gimelshein 2018). Scores have a token in
// each lane, outputs a dimension, so nothing is transposed; K and V are bf16 pairs unpacked by a shift and a
// mask, all sums are fp32.
//
// Invariants, for every row whatever rows share the tile:
//   * a score is one accumulator over ascending dimensions; an output is o * factor plus p v for ascending
//   tokens;
//   * blocks start at multiples of kBlock from `begin`; a block that the row does not reach multiplies by
//   exactly 1
//     and adds exactly 0 to its sum;
//   * keys at and past a row's limit: the score is replaced (a NaN cannot pass) and V is not read for that
//   row.
// Included by ISA files only.
#pragma once

#include "kernels/cpu/exp2.h"
#include "kernels/cpu/micro.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu {

inline constexpr uint32_t kBlock = 128;  // keys between two rescalings; divides kKvSplit
inline constexpr float kNoScore = -1e30f;

template <class Isa>
struct Attention {
  using V = typename Isa::V;
  static constexpr uint32_t kLanes = Isa::kLanes;
  static constexpr uint32_t kRows = Isa::kAttentionRows;
  static constexpr uint32_t kVectorsPerTile = kKvTile / kLanes;
  static constexpr uint32_t kBlockTiles = kBlock / kKvTile;

  // So few rows that K and V arrive slower than they are used.
  template <int R>
  static constexpr bool kMemoryBound = Isa::kAccumulators / R >= 8;

  // One block of keys for one register tile of rows.
  struct Block {
    const std::byte *k[kBlockTiles], *v[kBlockTiles];
    const std::byte* next[kBlockTiles];  // K of the block after this one, to be fetched meanwhile; or V again
    uint32_t begin;                      // first key
    uint32_t dim;
    const float* q;  // [dim][rows]: a dimension's queries side by side
    const uint32_t* limit;
    SoftmaxState state;
    float (*p)[kBlock];  // scores, then weights
  };

  // Scores of T vectors of tokens, from vector `first` on.
  template <int R, int T>
  [[gnu::always_inline]] static void scores(const Block& b, uint32_t first) {
    const std::byte* k[T];
#pragma GCC unroll 16
    for (int t = 0; t < T; ++t)
      k[t] = b.k[(first + t) / kVectorsPerTile] + (first + t) % kVectorsPerTile * kLanes * 4;
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
          const typename Isa::I pair = Isa::load_bits(k[t] + d * 32);
          even[t] = Isa::low_bf16(pair);
          odd[t] = Isa::high_bf16(pair);
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
          const typename Isa::I pair = Isa::load_bits(k[t] + d * 32);
          const V even = Isa::low_bf16(pair), odd = Isa::high_bf16(pair);
          // Few rows: memory is the limit, and each K line read asks for the V line of the same place.
          if (kVectorsPerTile == 1 || t % 2 == 0)
            __builtin_prefetch(b.v[(first + t) / kVectorsPerTile] + d * 32);
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

  // Scores to weights for R rows over `vectors` vectors; updates max and sum, gives the factors of the old
  // state.
  template <int R>
  [[gnu::always_inline]] static void weigh(const Block& b, uint32_t vectors, float* factor) {
    float top[kRows + kLanes] = {}, change[kRows + kLanes] = {};
    for (int r = 0; r < R; ++r) {
      const uint32_t seen = b.limit[r] > b.begin ? b.limit[r] - b.begin : 0;
      float* p = b.p[r];
      V most = Isa::set1(b.state.max[r]);
      for (uint32_t i = 0; i < vectors; ++i) {
        const uint32_t at = i * kLanes;
        V s = Isa::load(p + at);
        if (seen < at + kLanes) {
          s = Isa::keep_first(s, seen > at ? seen - at : 0, Isa::set1(-__builtin_inff()));
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
      for (uint32_t i = 0; i < vectors; ++i) {
        const V e = exp2<Isa>(Isa::sub(Isa::load(p + i * kLanes), max));
        Isa::store(p + i * kLanes, e);
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
      const std::byte* v = b.v[t / kKvTile] + (t % kKvTile / 2 * b.dim + d) * 4;
      V even[D], odd[D];
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) {
        const typename Isa::I pair = Isa::load_bits(v + i * kLanes * 4);
        even[i] = Isa::low_bf16(pair);
        odd[i] = Isa::high_bf16(pair);
        if constexpr (kMemoryBound<R>)
          __builtin_prefetch(b.next[t / kKvTile] + (t % kKvTile / 2 * b.dim + d + i * kLanes) * 4);
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
      const std::byte* v = b.v[t / kKvTile] + (t % kKvTile / 2 * b.dim + d) * 4;
#pragma GCC unroll 16
      for (int i = 0; i < D; ++i) {
        const V even = Isa::low_bf16(Isa::load_bits(v + i * kLanes * 4));
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
      // Keys that every row sees, that some row sees, and the latter in whole vectors.
      const auto in_block = [&](uint32_t r) {
        const uint32_t seen = b.limit[r] > b.begin ? b.limit[r] - b.begin : 0;
        return seen < kBlock ? seen : kBlock;
      };
      const uint32_t all = in_block(0) & ~1u, some = in_block(R - 1);
      if (some == 0) return;
      const uint32_t vectors = (some + kLanes - 1) / kLanes;
      constexpr int kMost = Isa::kAccumulators / R;
      constexpr int T = kMost >= 8 ? 8 : kMost >= 4 ? 4 : 2;
      uint32_t first = 0;
      for (; first + T <= vectors; first += T) scores<R, T>(b, first);
      for (; first < vectors; ++first) scores<R, 1>(b, first);
      float factor[kRows + kLanes];
      weigh<R>(b, vectors, factor);
      all_dims<R>(b, 0, factor, 0, all);
      const float one = 1;
      for (int r = 0; r < R; ++r)
        if (in_block(r) > all) all_dims<1>(b, r, &one, all, in_block(r));
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
