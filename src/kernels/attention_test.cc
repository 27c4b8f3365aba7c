// Attention of every table: values against the oracle within what bf16 keys and values cost, bits against
// itself for any slicing, batch and thread count, and indifference to what lies past a row's own position.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/testing/tables.h"

namespace reprise::kernels {
namespace {

using testing::all_tables;
using testing::fast_tables;

constexpr KvType kTypes[] = {KvType::kBF16, KvType::kInt8};

// One sequence: its queries, keys and values in fp32, and pages that are NaN until written.
struct Sequence {
  const Table& t;
  TaskPool& pool;
  KvShape shape;
  uint32_t heads, length;
  uint32_t window = 0;
  std::vector<float> sinks;
  std::vector<float> q, k, v;
  std::vector<Buffer> memory;
  std::vector<std::byte*> pages;
  Buffer scratch;

  Sequence(const Table& table, TaskPool& p, KvShape s, uint32_t query_heads, uint32_t tokens,
           uint32_t seed = 1)
      : t(table), pool(p), shape(s), heads(query_heads), length(tokens) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    q.resize(size_t{tokens} * heads * s.head_dim);
    k.resize(size_t{tokens} * s.kv_heads * s.head_dim);
    v.resize(k.size());
    for (auto* values : {&q, &k, &v})
      for (float& x : *values) x = normal(random);
    for (uint32_t at = 0; at < tokens; at += s.page_tokens) {
      Buffer& page = memory.emplace_back(t.kv_page_bytes(s));
      std::memset(page.data(), 0xff, page.size());  // NaN in bf16 and in fp32
      pages.push_back(page.data());
    }
  }
  size_t q_ld() const { return size_t{heads} * shape.head_dim; }
  size_t kv_ld() const { return size_t{shape.kv_heads} * shape.head_dim; }

  void write(uint32_t begin, uint32_t end, uint32_t layer = 0) {
    const Slice slice{0, end - begin, begin, pages};
    t.kv_write(pool, shape, layer, {&slice, 1}, &k[begin * kv_ld()], &v[begin * kv_ld()], kv_ld());
  }
  std::vector<float> attend(uint32_t begin, uint32_t end, uint32_t layer = 0) {
    std::vector<float> out((end - begin) * q_ld());
    const Slice slice{0, end - begin, begin, pages};
    t.attention(pool, {.shape = &shape,
                       .layer = layer,
                       .heads = heads,
                       .scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim)),
                       .window = window,
                       .sinks = sinks.empty() ? nullptr : sinks.data(),
                       .slices = {&slice, 1},
                       .q = &q[begin * q_ld()],
                       .q_ld = q_ld(),
                       .out = out.data(),
                       .out_ld = q_ld(),
                       .scratch = &scratch});
    return out;
  }
  std::vector<float> run(uint32_t begin, uint32_t end) {
    write(begin, end);
    return attend(begin, end);
  }
};

// How far an average of values of N(0, 1) over `keys` may be off: `exact`, or what queries and weights
// rounded to bf16 cost, whose errors average out. (Which keys are seen is judged where all weights are
// equal.)
float tolerance(const Table& t, size_t keys, float exact) {
  return t.bf16_attention ? 0.06f / std::sqrt(static_cast<float>(keys)) : exact;
}

void expect_same_bits(const std::vector<float>& a, const float* b, const std::string& what) {
  ASSERT_EQ(std::memcmp(a.data(), b, a.size() * sizeof(float)), 0) << what;
}

TEST(Attention, AgreesWithRefForManyShapes) {
  TaskPool pool(2, false);
  struct Case {
    uint32_t page, kv_heads, heads, dim, length;
  };
  for (const Case& c :
       {Case{16, 1, 1, 64, 1}, Case{16, 3, 9, 64, 300}, Case{64, 2, 8, 128, 700}, Case{512, 1, 5, 32, 1100},
        Case{32, 2, 2, 80, 140}, Case{16, 1, 64, 16, 40}, Case{128, 2, 4, 6, 600}, Case{64, 1, 7, 256, 90}}) {
    const KvShape shape{c.page, 2, c.kv_heads, c.dim};
    Sequence oracle(ref_table(), pool, shape, c.heads, c.length);
    oracle.write(0, c.length, 1);
    const auto expected = oracle.attend(0, c.length, 1);
    for (const Table* t : fast_tables()) {
      Sequence s(*t, pool, shape, c.heads, c.length);
      s.write(0, c.length, 1);
      const auto actual = s.attend(0, c.length, 1);
      for (size_t i = 0; i < actual.size(); ++i)
        // bf16 rounds K and V by 2^-9: scores (about N(0, 1)) move by a few 1e-3, and so do averages of V.
        ASSERT_NEAR(actual[i], expected[i], 0.03)
            << t->name << " dim " << c.dim << " heads " << c.heads << " at " << i;
      double error = 0, size = 0;
      for (size_t i = 0; i < actual.size(); ++i) {
        error += std::pow(actual[i] - expected[i], 2);
        size += std::pow(expected[i], 2);
      }
      EXPECT_LT(std::sqrt(error / size), 4e-3) << t->name << " dim " << c.dim;
    }
  }
}

// ref rounds keys and values to int8 alike, so only the arithmetic differs.
TEST(Attention, WithInt8AgreesWithRef) {
  TaskPool pool(2, false);
  struct Case {
    uint32_t page, kv_heads, heads, dim, length, window;
  };
  for (const Case& c :
       {Case{16, 1, 1, 64, 1, 0}, Case{16, 3, 9, 64, 300, 7}, Case{64, 2, 8, 128, 700, 0},
        Case{512, 1, 5, 32, 1100, 600}, Case{32, 2, 2, 80, 140, 0}, Case{128, 2, 4, 6, 600, 128}}) {
    const KvShape shape{c.page, 2, c.kv_heads, c.dim, KvType::kInt8};
    Sequence oracle(ref_table(), pool, shape, c.heads, c.length);
    oracle.window = c.window;
    oracle.write(0, c.length, 1);
    const auto expected = oracle.attend(0, c.length, 1);
    for (const Table* t : fast_tables()) {
      Sequence s(*t, pool, shape, c.heads, c.length);
      s.window = c.window;
      s.write(0, c.length, 1);
      const auto actual = s.attend(0, c.length, 1);
      for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], 5e-6) << t->name << " dim " << c.dim << " at " << i;
    }
  }
}

// A step is 1/127 of the largest magnitude of a token's head, and a value is off by half of one at most.
TEST(Attention, Int8KeepsValuesToHalfAStep) {
  TaskPool pool(1, false);
  for (const Table* t : all_tables()) {
    Sequence s(*t, pool, {16, 1, 1, 64, KvType::kInt8}, 1, 1);
    const auto out = s.run(0, 1);  // attention over one token is its value
    float top = 0;
    for (const float v : s.v) top = std::max(top, std::abs(v));
    for (uint32_t d = 0; d < 64; ++d) ASSERT_NEAR(out[d], s.v[d], top / 254 * 1.001f) << t->name;
    std::fill(s.k.begin(), s.k.end(), 0.0f);
    std::fill(s.v.begin(), s.v.end(), 0.0f);
    for (const float x : s.run(0, 1)) ASSERT_EQ(x, 0.0f) << t->name;
  }
}

TEST(Attention, Int8TakesHalfTheMemoryAndAScale) {
  for (const Table* t : fast_tables()) {
    EXPECT_EQ(t->kv_page_bytes({32, 2, 3, 64}), 32u * 2 * 3 * 2 * 64 * 2);
    EXPECT_EQ(t->kv_page_bytes({32, 2, 3, 64, KvType::kInt8}), 32u * 2 * 3 * 2 * (64 + 4));
  }
}

TEST(Attention, IsExactForValuesThatBf16Holds) {
  TaskPool pool(2, false);
  const KvShape shape{16, 1, 2, 32};
  Sequence oracle(ref_table(), pool, shape, 4, 600);
  for (auto* values : {&oracle.k, &oracle.v})
    for (float& x : *values) x = std::round(x * 16) / 16;
  const auto expected = oracle.run(0, 600);
  for (const Table* t : fast_tables()) {
    Sequence s(*t, pool, shape, 4, 600);
    s.k = oracle.k;
    s.v = oracle.v;
    const auto actual = s.run(0, 600);
    for (size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], tolerance(*t, i / s.q_ld() + 1, 3e-6f)) << t->name << " at " << i;
  }
}

// With keys of zero every weight is exactly 1, whatever it is rounded to: a value too many or too few shows.
// Ends and starts of all parities, and garbage past the end.
TEST(Attention, AveragesExactlyTheValuesThatARowSees) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const uint32_t window : {0u, 1u, 6u, 7u, 130u, 517u}) {
      Sequence s(*t, pool, {16, 1, 2, 32}, 4, 700);
      s.window = window;
      std::fill(s.k.begin(), s.k.end(), 0.0f);
      for (float& x : s.v) x = std::round(x * 16) / 16;
      s.write(0, 700);
      for (const uint32_t rows : {1u, 2u, 3u, 9u, 40u}) {
        const uint32_t first = rows % 2 == 0 ? 640 : 641 - rows;
        const auto out = s.attend(first, first + rows);
        for (uint32_t i = 0; i < rows; ++i)
          for (uint32_t h = 0; h < 4; ++h)
            for (uint32_t d = 0; d < 32; ++d) {
              const uint32_t position = first + i,
                             keys = window == 0 ? position + 1 : std::min(window, position + 1);
              double sum = 0;
              for (uint32_t j = position + 1 - keys; j <= position; ++j)
                sum += s.v[j * s.kv_ld() + h / 2 * 32 + d];
              ASSERT_NEAR(out[i * s.q_ld() + h * 32 + d], sum / keys, 3e-6)
                  << t->name << " window " << window << " row " << position;
            }
      }
    }
}

TEST(Attention, ARowIsTheSameBitsForAnySlicing) {
  TaskPool pool(2, false), alone(1, false);
  const uint32_t length = 1600;
  for (const KvType type : kTypes)
    for (const Table* t : all_tables()) {
      const KvShape shape{64, 1, 3, 64, type};
      const bool slow = t == &ref_table();
      Sequence whole(*t, pool, shape, 9, length);
      const auto expected = whole.run(0, length);
      for (const uint32_t chunk : {1u, 4u, 7u, 16u, 64u, 512u}) {
        if (slow && chunk != 64) continue;
        Sequence s(*t, chunk == 7 ? alone : pool, shape, 9, length);
        // A decode a token would take long from the start: begin near the borders of pages and of the 512
        // split.
        for (const uint32_t start : {0u, 500u, 1020u, 1530u}) {
          const uint32_t end = std::min(length, start + std::max(40u, 2 * chunk));
          s.write(0, start);
          for (uint32_t at = start; at < end; at += chunk) {
            const auto part = s.run(at, std::min(end, at + chunk));
            expect_same_bits(part, &expected[at * s.q_ld()],
                             std::string(t->name) + " chunk " + std::to_string(chunk));
          }
        }
      }
    }
}

TEST(Attention, ABatchOfSequencesIsTheSameBitsAsEachAlone) {
  TaskPool pool(2, false);
  for (const KvType type : kTypes)
    for (const Table* t : all_tables()) {
      const KvShape shape{32, 1, 2, 64, type};
      // Begin and end of each sequence's rows in the batch: prefill chunks and decodes, deep and shallow.
      const std::pair<uint32_t, uint32_t> ranges[] = {{2100, 2101}, {0, 1}, {700, 760}, {511, 513}, {0, 33}};
      std::vector<Sequence> sequences;
      std::vector<std::vector<float>> expected;
      std::vector<float> q, k, v;
      std::vector<Slice> slices;
      uint32_t rows = 0;
      for (const auto& [begin, end] : ranges) {
        Sequence& s = sequences.emplace_back(*t, pool, shape, 6, end, end);
        if (begin > 0) s.write(0, begin);
        expected.push_back(s.run(begin, end));
        q.insert(q.end(), s.q.begin() + begin * s.q_ld(), s.q.begin() + end * s.q_ld());
        k.insert(k.end(), s.k.begin() + begin * s.kv_ld(), s.k.begin() + end * s.kv_ld());
        v.insert(v.end(), s.v.begin() + begin * s.kv_ld(), s.v.begin() + end * s.kv_ld());
        rows += end - begin;
      }
      uint32_t first = 0;
      for (size_t i = 0; i < sequences.size(); ++i) {
        const auto& [begin, end] = ranges[i];
        slices.push_back({first, end - begin, begin, sequences[i].pages});
        first += end - begin;
      }
      const size_t q_ld = sequences[0].q_ld(), kv_ld = sequences[0].kv_ld();
      t->kv_write(pool, shape, 0, slices, k.data(), v.data(), kv_ld);
      std::vector<float> out(rows * q_ld);
      Buffer scratch;
      t->attention(pool, {.shape = &shape,
                          .heads = 6,
                          .scale = 0.125f,
                          .slices = slices,
                          .q = q.data(),
                          .q_ld = q_ld,
                          .out = out.data(),
                          .out_ld = q_ld,
                          .scratch = &scratch});
      size_t at = 0;
      for (const auto& e : expected) {
        expect_same_bits(e, &out[at], t->name);
        at += e.size();
      }
    }
}

// Pages come from other requests: whatever follows a row's own position must not reach it, not even as 0 *
// NaN.
TEST(Attention, GarbagePastARowNeverMatters) {
  TaskPool pool(2, false);
  const float poison[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          3e38f};
  for (const KvType type : kTypes)
    for (const Table* t : all_tables())
      for (const uint32_t length : {1u, 2u, 15u, 17u, 130u, 513u, 640u}) {
        const KvShape shape{16, 1, 1, 48, type};
        Sequence clean(*t, pool, shape, 4, length);
        const auto expected = clean.run(0, length);  // past `length` the page is all NaN already
        for (const float x : expected) ASSERT_TRUE(std::isfinite(x)) << t->name << " length " << length;
        for (const float bad : poison) {
          Sequence s(*t, pool, shape, 4, length);
          // The last three tokens are poison: rows before them must not see it though they share tiles and
          // blocks.
          const uint32_t from = length > 3 ? length - 3 : length;
          std::fill(s.k.begin() + from * s.kv_ld(), s.k.end(), bad);
          std::fill(s.v.begin() + from * s.kv_ld(), s.v.end(), bad);
          const auto actual = s.run(0, length);
          ASSERT_EQ(std::memcmp(actual.data(), expected.data(), from * s.q_ld() * 4), 0)
              << t->name << " " << length;
        }
      }
}

TEST(Attention, LargeScoresNeitherOverflowNorVanish) {
  TaskPool pool(2, false);
  const KvShape shape{16, 1, 1, 16};
  for (const Table* t : all_tables())
    for (const float size : {1e3f, -1e3f, 1e10f}) {
      Sequence s(*t, pool, shape, 1, 1100);
      for (uint32_t i = 0; i < s.length; ++i)
        for (uint32_t d = 0; d < 16; ++d) {
          s.q[i * 16 + d] = d == 0 ? size : 0;
          s.k[i * 16 + d] = d == 0 ? (i == 700 ? 4.0f : 1.0f) : 0;
          s.v[i * 16 + d] = i == 700 ? 2.0f : 1.0f;
        }
      const auto out = s.run(0, s.length);
      EXPECT_FLOAT_EQ(out[699 * 16], 1.0f) << t->name;
      EXPECT_FLOAT_EQ(out[1099 * 16], size > 0 ? 2.0f : 1.0f) << t->name;
    }
}

// One row at depth is cut into parts that are many enough to be merged in parallel; among fifty it is not
// cut.
TEST(Attention, ALargeMergeIsTheSameBits) {
  TaskPool pool(2, false);
  const uint32_t length = 4200;
  for (const KvType type : kTypes)
    for (const Table* t : fast_tables()) {
      const KvShape shape{64, 1, 2, 128, type};
      Sequence s(*t, pool, shape, 16, length);
      s.write(0, length);
      const auto many = s.attend(length - 50, length), one = s.attend(length - 1, length);
      expect_same_bits(one, &many[49 * s.q_ld()], t->name);
    }
}

// The definition in double, for the oracle itself: softmax over the window's keys and the sink.
TEST(Attention, RefIsTheDefinitionWithWindowAndSinks) {
  TaskPool pool(2, false);
  const KvShape shape{16, 1, 2, 16};
  for (const uint32_t window : {0u, 1u, 5u, 40u, 1000u})
    for (const bool with_sinks : {false, true}) {
      Sequence s(ref_table(), pool, shape, 4, 100);
      s.window = window;
      if (with_sinks) s.sinks = {-1, 0.5f, 3, 30};
      const auto out = s.run(0, 100);
      for (const uint32_t i : {0u, 1u, 4u, 5u, 39u, 40u, 41u, 99u})
        for (uint32_t h = 0; h < 4; ++h) {
          const uint32_t first = window == 0 || i < window ? 0 : i - window + 1;
          double sum = with_sinks ? std::exp(double{s.sinks[h]}) : 0;
          std::vector<double> expected(16);
          for (uint32_t j = first; j <= i; ++j) {
            double score = 0;
            for (uint32_t d = 0; d < 16; ++d)
              score += double{s.q[i * 64 + h * 16 + d]} * s.k[j * 32 + h / 2 * 16 + d] / 4;
            sum += std::exp(score);
            for (uint32_t d = 0; d < 16; ++d) expected[d] += std::exp(score) * s.v[j * 32 + h / 2 * 16 + d];
          }
          for (uint32_t d = 0; d < 16; ++d)
            ASSERT_NEAR(out[i * 64 + h * 16 + d], expected[d] / sum, 1e-5)
                << "window " << window << " row " << i << " head " << h;
        }
    }
}

// Windows of all kinds of ends: within a vector, a block, a part, longer than the sequence.
TEST(Attention, WindowsAndSinksAgreeWithRef) {
  TaskPool pool(2, false);
  struct Case {
    uint32_t page, kv_heads, heads, dim, length, window;
    bool sinks;
  };
  for (const Case& c : {Case{16, 1, 4, 64, 300, 1, false}, Case{32, 2, 8, 64, 700, 128, true},
                        Case{32, 1, 5, 32, 1300, 513, false}, Case{64, 3, 9, 48, 400, 7, true},
                        Case{32, 1, 2, 128, 1100, 600, true}, Case{16, 2, 2, 16, 90, 0, true},
                        Case{32, 2, 2, 64, 200, 5000, false}}) {
    const auto with = [&](const Table& t) {
      Sequence s(t, pool, {c.page, 2, c.kv_heads, c.dim}, c.heads, c.length);
      for (auto* values : {&s.k, &s.v})  // values that bf16 holds: the arithmetic alone is compared
        for (float& x : *values) x = std::round(x * 16) / 16;
      s.window = c.window;
      if (c.sinks)
        for (uint32_t h = 0; h < c.heads; ++h) s.sinks.push_back(static_cast<float>(h) - 2);
      return s;
    };
    Sequence oracle = with(ref_table());
    const auto expected = oracle.run(0, c.length);
    for (const Table* t : fast_tables()) {
      Sequence s = with(*t);
      const auto actual = s.run(0, c.length);
      for (size_t i = 0; i < actual.size(); ++i)
        ASSERT_NEAR(
            actual[i], expected[i],
            tolerance(*t, std::min<size_t>(i / s.q_ld() + 1, c.window == 0 ? c.length : c.window), 5e-6f))
            << t->name << " window " << c.window << " at " << i;
      s.write(0, c.length);
      const auto last = s.attend(c.length - 1, c.length);
      expect_same_bits(last, &actual[(c.length - 1) * s.q_ld()], t->name);
    }
  }
}

TEST(Attention, WithAWindowARowIsTheSameBitsForAnySlicing) {
  TaskPool pool(2, false), alone(1, false);
  const KvShape shape{32, 1, 2, 64};
  const uint32_t length = 1600;
  for (const Table* t : fast_tables())
    for (const uint32_t window : {1u, 20u, 128u, 500u, 700u}) {
      const auto with = [&](TaskPool& p) {
        Sequence s(*t, p, shape, 6, length);
        s.window = window;
        s.sinks = {0, 1, 2, 3, -4, 5};
        return s;
      };
      Sequence whole = with(pool);
      const auto expected = whole.run(0, length);
      for (const uint32_t chunk : {1u, 4u, 7u, 33u, 512u}) {
        Sequence s = with(chunk == 7 ? alone : pool);
        for (const uint32_t start : {0u, 120u, 490u, 1010u, 1510u}) {
          const uint32_t end = std::min(length, start + std::max(40u, 2 * chunk));
          s.write(0, start);
          for (uint32_t at = start; at < end; at += chunk) {
            const auto part = s.run(at, std::min(end, at + chunk));
            expect_same_bits(part, &expected[at * s.q_ld()],
                             std::string(t->name) + " window " + std::to_string(window) + " chunk " +
                                 std::to_string(chunk) + " at " + std::to_string(at));
          }
        }
      }
    }
}

// Pages before the window may be gone: neither they nor the rest of the tiles before it are looked at.
TEST(Attention, WhatLiesBeforeAWindowNeverMatters) {
  TaskPool pool(2, false);
  const KvShape shape{32, 1, 1, 32};
  for (const Table* t : all_tables())
    for (const uint32_t window : {1u, 17u, 64u, 300u}) {
      const uint32_t length = 800, rows = 20;
      Sequence s(*t, pool, shape, 3, length);
      s.window = window;
      s.write(0, length);
      const auto expected = s.attend(length - rows, length);
      const uint32_t first = length - rows - window + 1;  // key of the first row
      std::fill(s.k.begin(), s.k.begin() + first / 16 * 16 * s.kv_ld(), NAN);
      std::fill(s.v.begin(), s.v.begin() + first / 16 * 16 * s.kv_ld(), NAN);
      s.write(0, first / 16 * 16);
      for (uint32_t page = 0; page < first / 32; ++page) s.pages[page] = nullptr;
      expect_same_bits(s.attend(length - rows, length), expected.data(),
                       std::string(t->name) + " window " + std::to_string(window));
    }
}

TEST(AttentionDeathTest, WrongShapesAbort) {
  TaskPool pool(1, false);
  for (const Table* t : all_tables()) {
    Sequence s(*t, pool, {16, 1, 1, 16}, 1, 20);
    EXPECT_DEATH(s.write(0, 40), "need more than 2 pages");
    EXPECT_DEATH(s.attend(0, 10, 1), "layer 1 of 1");
    s.heads = 3;
    s.shape.kv_heads = 2;
    EXPECT_DEATH(s.attend(0, 1), "3 heads over 2 kv heads");
    s.shape = {24, 1, 1, 16};
    EXPECT_DEATH(s.write(0, 1), "pages of 24 tokens");
  }
}

TEST(Attention, KeysAndValuesTakeTwoBytesEach) {
  for (const Table* t : fast_tables())
    EXPECT_EQ(t->kv_page_bytes({32, 30, 3, 64}), 2u * 2 * 32 * 30 * 3 * 64);
}

}  // namespace
}  // namespace reprise::kernels
