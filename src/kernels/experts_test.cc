// Experts of every table: bit for bit what the table's own matrix multiplies give row by row and expert by
// expert, hence also the same whatever rows share the call; and against the oracle within rounding.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/testing/tables.h"
#include "kernels/testing/values.h"
#include "kernels/testing/weights.h"

namespace reprise::kernels {
namespace {

using testing::all_tables;
using testing::fast_tables;
using testing::random_matrix;
using testing::random_values;

// Experts in file form, and rows with choices.
struct Case {
  WeightType gate = WeightType::kQ4_0, up = WeightType::kQ4_0, down = WeightType::kQ4_0;
  uint32_t experts = 6, used = 2, cols = 64, inner = 96, rows = 1;
  Gating gating = Gating::kSilu;
  bool biases = false;
};

struct Data {
  Case c;
  std::vector<std::byte> gate, up, down;
  std::vector<float> gate_bias, up_bias, down_bias, x, weights, y;
  std::vector<uint32_t> chosen;
  size_t ldx, ldy;

  explicit Data(const Case& of) : c(of), ldx(c.cols + 3), ldy(c.cols + 5) {
    gate = random_matrix(c.gate, c.experts * c.inner, c.cols, 1);
    up = random_matrix(c.up, c.experts * c.inner, c.cols, 2);
    down = random_matrix(c.down, c.experts * c.cols, c.inner, 3);
    if (c.biases) {
      gate_bias = random_values(size_t{c.experts} * c.inner, 4, 3);
      up_bias = random_values(size_t{c.experts} * c.inner, 5, 3);
      down_bias = random_values(size_t{c.experts} * c.cols, 6);
    }
    x = random_values(c.rows * ldx, 7);
    y = random_values(c.rows * ldy, 8);
    weights = random_values(size_t{c.rows} * c.used, 9);
    // Some experts are chosen by many rows, some by none.
    std::mt19937 random(10);
    for (uint32_t r = 0; r < c.rows; ++r) {
      std::vector<uint32_t> all(c.experts);
      std::iota(all.begin(), all.end(), 0u);
      std::shuffle(all.begin(), all.end(), random);
      if (c.used > 1 && r % 3 != 0) std::swap(all[0], *std::ranges::find(all, 1u));
      chosen.insert(chosen.end(), all.begin(), all.begin() + c.used);
    }
  }

  Experts pack(const Table& t, TaskPool& pool) const {
    Experts e;
    e.gate = t.pack(pool, {c.gate, c.inner, c.cols, gate.data(), c.experts});
    e.up = t.pack(pool, {c.up, c.inner, c.cols, up.data(), c.experts});
    e.down = t.pack(pool, {c.down, c.cols, c.inner, down.data(), c.experts});
    e.gate_bias = gate_bias;
    e.up_bias = up_bias;
    e.down_bias = down_bias;
    e.gating = c.gating;
    return e;
  }

  // y after the call, for rows [first, first + rows) alone.
  std::vector<float> run(const Table& t, TaskPool& pool, const Experts& experts, Buffer& scratch,
                         uint32_t first, uint32_t rows) const {
    std::vector<float> out(y.begin() + first * ldy, y.begin() + (first + rows) * ldy);
    t.experts(pool, {.experts = &experts,
                     .x = x.data() + first * ldx,
                     .ldx = ldx,
                     .rows = rows,
                     .used = c.used,
                     .chosen = chosen.data() + size_t{first} * c.used,
                     .weights = weights.data() + size_t{first} * c.used,
                     .y = out.data(),
                     .ldy = ldy,
                     .scratch = &scratch});
    return out;
  }
  std::vector<float> run(const Table& t, TaskPool& pool) const {
    Buffer scratch;
    return run(t, pool, pack(t, pool), scratch, 0, c.rows);
  }

  // The definition, with one expert's matrices at a time.
  std::vector<float> one_by_one(const Table& t, TaskPool& pool) const {
    std::vector<float> out = y;
    std::vector<std::vector<float>> parts(chosen.size());
    for (uint32_t e = 0; e < c.experts; ++e) {
      const auto matrix = [&](WeightType type, const std::vector<std::byte>& from, uint32_t rows,
                              uint32_t cols) {
        return t.pack(pool, {type, rows, cols, from.data() + from.size() / c.experts * e});
      };
      const Matrix g = matrix(c.gate, gate, c.inner, c.cols), u = matrix(c.up, up, c.inner, c.cols),
                   d = matrix(c.down, down, c.cols, c.inner);
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i] != e) continue;
        const auto multiply = [&](const float* row, const Matrix& w, const std::vector<float>& bias) {
          Input input;
          t.prepare(pool, row, 1, w.cols, w.cols, input);
          std::vector<float> result(w.rows);
          t.matmul(pool, input, w, result.data(), w.rows, Epilogue::kStore);
          for (uint32_t n = 0; n < w.rows && !bias.empty(); ++n) result[n] += bias[e * w.rows + n];
          return result;
        };
        std::vector<float> a = multiply(&x[i / c.used * ldx], g, gate_bias);
        const std::vector<float> b = multiply(&x[i / c.used * ldx], u, up_bias);
        t.glu(pool, c.gating, a.data(), b.data(), a.size(), 1, c.inner);
        parts[i] = multiply(a.data(), d, down_bias);
      }
    }
    for (uint32_t r = 0; r < c.rows; ++r)
      for (uint32_t n = 0; n < c.cols; ++n) {
        float sum = 0;
        for (uint32_t i = r * c.used; i < (r + 1) * c.used; ++i)
          sum = &t == &ref_table() ? sum + weights[i] * parts[i][n] : std::fma(weights[i], parts[i][n], sum);
        out[r * ldy + n] += sum;
      }
    return out;
  }
};

class ExpertsOf : public ::testing::TestWithParam<WeightType> {};
INSTANTIATE_TEST_SUITE_P(Experts, ExpertsOf, ::testing::ValuesIn(testing::every_type()),
                         [](const auto& i) { return name(i.param); });

TEST_P(ExpertsOf, AreTheTablesOwnProductsBitForBit) {
  TaskPool pool(2, false);
  const WeightType type = GetParam();
  const uint32_t block = std::max<uint32_t>(32, static_cast<uint32_t>(block_elements(type)));
  for (const auto& [experts, used, rows] :
       {std::tuple{6u, 2u, 1u}, {6u, 3u, 50u}, {5u, 1u, 200u}, {40u, 8u, 7u}})
    for (const Gating gating : {Gating::kSilu, Gating::kClampedSilu}) {
      Case c{type, type, type, experts, used, block, block, rows, gating, gating == Gating::kClampedSilu};
      if (block_elements(type) == 1) c.cols = 41, c.inner = 27;  // no whole panels, no whole groups
      const Data data(c);
      for (const Table* t : all_tables()) {
        const auto expected = data.one_by_one(*t, pool), actual = data.run(*t, pool);
        if (t == &ref_table()) {
          for (size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
        } else {
          ASSERT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * 4), 0)
              << t->name << ": " << rows << " rows, " << used << " of " << experts;
        }
      }
    }
}

TEST_P(ExpertsOf, ARowIsTheSameBitsAmongAnyOthers) {
  TaskPool pool(3, false), alone(1, false);
  const WeightType type = GetParam();
  const uint32_t block = std::max<uint32_t>(32, static_cast<uint32_t>(block_elements(type)));
  const Data data({type, type, type, 4, 2, block, 2 * block, 230});
  for (const Table* t : all_tables()) {
    const Experts experts = data.pack(*t, pool);
    Buffer scratch;
    const auto whole = data.run(*t, pool, experts, scratch, 0, 230);
    const auto same = [&](const std::vector<float>& part, uint32_t first) {
      return std::memcmp(part.data(), &whole[first * data.ldy], part.size() * 4) == 0;
    };
    EXPECT_TRUE(same(data.run(*t, alone, experts, scratch, 0, 230), 0)) << t->name << ": threads";
    for (const uint32_t chunk : {1u, 7u, 64u})
      for (uint32_t first = 0; first < 230; first += chunk) {
        const uint32_t rows = std::min(chunk, 230 - first);
        ASSERT_TRUE(same(data.run(*t, pool, experts, scratch, first, rows), first))
            << t->name << ": rows " << first << " to " << first + rows;
      }
  }
}

TEST(Experts, AgreeWithRefWithinActivationRounding) {
  TaskPool pool(2, false);
  using enum WeightType;
  for (const auto& [gate, up, down] :
       {std::tuple{kQ4_0, kQ4_0, kQ4_0}, {kQ8_0, kQ4_1, kQ4_0}, {kBF16, kQ8_0, kF32}, {kQ8_0, kF16, kQ8_0}})
    for (const uint32_t rows : {2u, 150u}) {
      const Data data({gate, up, down, 8, 3, 256, 128, rows});
      const auto expected = data.run(ref_table(), pool);
      double size = 0;
      for (const float v : expected) size += double{v} * v;
      for (const Table* t : fast_tables()) {
        const auto actual = data.run(*t, pool);
        double error = 0;
        for (size_t i = 0; i < actual.size(); ++i) error += std::pow(double{actual[i]} - expected[i], 2);
        EXPECT_LT(std::sqrt(error / size), 2e-4) << t->name << " " << name(gate) << " " << name(down);
      }
    }
}

TEST(Experts, OnlyTheRowWithANanSuffers) {
  TaskPool pool(2, false);
  for (const Gating gating : {Gating::kSilu, Gating::kClampedSilu}) {
    Data data({.experts = 3, .used = 2, .rows = 20, .gating = gating, .biases = true});
    for (const Table* t : all_tables()) {
      const auto clean = data.run(*t, pool);
      Data dirty = data;
      dirty.x[5 * data.ldx + 17] = std::nanf("");
      const auto actual = dirty.run(*t, pool);
      for (uint32_t r = 0; r < 20; ++r)
        for (uint32_t n = 0; n < data.c.cols; ++n) {
          if (r == 5) {
            ASSERT_FALSE(std::isfinite(actual[r * data.ldy + n])) << t->name;
          } else {
            ASSERT_EQ(actual[r * data.ldy + n], clean[r * data.ldy + n]) << t->name << " row " << r;
          }
        }
    }
  }
}

TEST(ExpertsDeathTest, WrongShapesAbort) {
  TaskPool pool(1, false);
  for (const Table* t : all_tables()) {
    Data data({.experts = 4, .used = 2, .rows = 3});
    data.chosen[2] = 4;
    EXPECT_DEATH(data.run(*t, pool), "expert 4 of 4");
    const Experts experts = data.pack(*t, pool);
    Input input;
    std::vector<float> y(experts.gate.rows);
    t->prepare(pool, data.x.data(), 1, data.c.cols, data.c.cols, input);
    EXPECT_DEATH(t->matmul(pool, input, experts.gate, y.data(), y.size(), Epilogue::kStore), "stack of 4");
  }
}

}  // namespace
}  // namespace reprise::kernels
