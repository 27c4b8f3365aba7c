// Row operations of every table against the oracle, and bits against themselves for any number of rows.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/testing/tables.h"

namespace reprise::kernels {
namespace {

using testing::all_tables;

std::vector<float> random_values(size_t n, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

TEST(RmsNorm, MatchesTheDefinition) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const uint32_t cols : {1u, 7u, 16u, 63u, 576u, 1000u}) {
      const uint32_t rows = 70, ld = cols + 5;
      const auto x = random_values(rows * ld, 1, 3), weight = random_values(cols, 2);
      std::vector<float> out(rows * ld, -7), one(cols);
      t->rms_norm(pool, x.data(), ld, weight.data(), 1e-5f, rows, cols, out.data(), ld);
      for (uint32_t r = 0; r < rows; ++r) {
        double squares = 0;
        for (uint32_t i = 0; i < cols; ++i) squares += std::pow(double{x[r * ld + i]}, 2);
        for (uint32_t i = 0; i < cols; ++i) {
          const double expected = x[r * ld + i] / std::sqrt(squares / cols + 1e-5) * weight[i];
          ASSERT_NEAR(out[r * ld + i], expected, std::abs(expected) * 2e-6) << t->name;
        }
        for (uint32_t i = cols; i < ld; ++i) ASSERT_EQ(out[r * ld + i], -7);
        t->rms_norm(pool, &x[r * ld], ld, weight.data(), 1e-5f, 1, cols, one.data(), cols);
        ASSERT_EQ(std::memcmp(one.data(), &out[r * ld], cols * 4), 0) << t->name;
      }
    }
}

TEST(Rope, RotatesPairsAndLeavesTheRest) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const bool interleaved : {false, true})
      for (const auto& [dim, rotary] : {std::pair{64u, 64u}, {80u, 20u}, {6u, 4u}, {128u, 96u}}) {
        const uint32_t rows = 33, heads = 5, ld = heads * dim + 1, half = rotary / 2;
        const auto x = random_values(rows * ld, 3);
        std::vector<float> cos(rows * half), sin(rows * half), y = x;
        for (uint32_t i = 0; i < rows * half; ++i) {
          cos[i] = std::cos(0.1f * static_cast<float>(i));
          sin[i] = std::sin(0.1f * static_cast<float>(i));
        }
        t->rope(pool, y.data(), ld, rows, heads, dim, rotary, cos.data(), sin.data(), interleaved);
        for (uint32_t r = 0; r < rows; ++r) {
          for (uint32_t h = 0; h < heads; ++h) {
            const float *from = &x[r * ld + h * dim], *to = &y[r * ld + h * dim];
            for (uint32_t i = 0; i < half; ++i) {
              const uint32_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + half;
              const float c = cos[r * half + i], s = sin[r * half + i];
              ASSERT_NEAR(to[a], from[a] * c - from[b] * s, 1e-6) << t->name;
              ASSERT_NEAR(to[b], from[a] * s + from[b] * c, 1e-6) << t->name;
            }
            for (uint32_t i = rotary; i < dim; ++i) ASSERT_EQ(to[i], from[i]);
          }
          ASSERT_EQ(y[r * ld + ld - 1], x[r * ld + ld - 1]);
          std::vector<float> one(&x[r * ld], &x[r * ld] + ld);
          t->rope(pool, one.data(), ld, 1, heads, dim, rotary, &cos[r * half], &sin[r * half], interleaved);
          ASSERT_EQ(std::memcmp(one.data(), &y[r * ld], ld * 4), 0) << t->name;
        }
      }
}

TEST(Swiglu, MatchesTheDefinitionAlsoFarOut) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const uint32_t cols : {1u, 17u, 1536u}) {
      const uint32_t rows = 20, ld = cols + 2;
      auto gate = random_values(rows * ld, 4, 8);
      const auto up = random_values(rows * ld, 5);
      gate[0] = -200;
      gate[ld] = 200;
      gate[2 * ld] = 0;
      auto y = gate;
      t->swiglu(pool, y.data(), up.data(), ld, rows, cols);
      for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t i = 0; i < cols; ++i) {
          const double g = gate[r * ld + i], expected = g / (1 + std::exp(-g)) * up[r * ld + i];
          ASSERT_NEAR(y[r * ld + i], expected, std::abs(expected) * 4e-6 + 1e-30)
              << t->name << " silu of " << g;
        }
        ASSERT_EQ(y[r * ld + cols], gate[r * ld + cols]);
        std::vector<float> one(&gate[r * ld], &gate[r * ld] + ld);
        t->swiglu(pool, one.data(), &up[r * ld], ld, 1, cols);
        ASSERT_EQ(std::memcmp(one.data(), &y[r * ld], ld * 4), 0) << t->name;
      }
    }
}

}  // namespace
}  // namespace reprise::kernels
