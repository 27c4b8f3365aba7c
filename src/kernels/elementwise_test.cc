// Row operations of every table against the oracle, and bits against themselves for any number of rows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/testing/tables.h"
#include "kernels/testing/values.h"

namespace reprise::kernels {
namespace {

using testing::all_tables;
using testing::random_values;

TEST(RmsNorm, MatchesTheDefinition) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const Epilogue epilogue : {Epilogue::kStore, Epilogue::kAdd})
      for (const uint32_t cols : {1u, 7u, 16u, 63u, 576u, 1000u}) {
        const uint32_t rows = 70, ld = cols + 5;
        const auto x = random_values(rows * ld, 1, 3), weight = random_values(cols, 2);
        std::vector<float> out(rows * ld, -7), one(cols, -7);
        t->rms_norm(pool, x.data(), ld, weight.data(), 1e-5f, rows, cols, out.data(), ld, epilogue);
        for (uint32_t r = 0; r < rows; ++r) {
          double squares = 0;
          for (uint32_t i = 0; i < cols; ++i) squares += std::pow(double{x[r * ld + i]}, 2);
          for (uint32_t i = 0; i < cols; ++i) {
            double expected = x[r * ld + i] / std::sqrt(squares / cols + 1e-5) * weight[i];
            const double error = (std::abs(expected) + 7) * 2e-6;
            if (epilogue == Epilogue::kAdd) expected -= 7;
            ASSERT_NEAR(out[r * ld + i], expected, error) << t->name;
          }
          for (uint32_t i = cols; i < ld; ++i) ASSERT_EQ(out[r * ld + i], -7);
          std::ranges::fill(one, -7.0f);
          t->rms_norm(pool, &x[r * ld], ld, weight.data(), 1e-5f, 1, cols, one.data(), cols, epilogue);
          ASSERT_EQ(std::memcmp(one.data(), &out[r * ld], cols * 4), 0) << t->name;
        }
      }
}

TEST(HeadNorm, IsTheNormOfEachHead) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const auto& [heads, dim] : {std::pair{1u, 64u}, {3u, 128u}, {5u, 20u}, {40u, 256u}}) {
      const uint32_t rows = 9, ld = heads * dim + 3;
      const auto x = random_values(rows * ld, 6, 3), weight = random_values(dim, 7);
      auto y = x;
      t->head_norm(pool, y.data(), ld, rows, heads, dim, weight.data(), 1e-6f);
      std::vector<float> head(dim);
      for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t h = 0; h < heads; ++h) {
          const size_t at = r * ld + h * dim;
          t->rms_norm(pool, &x[at], dim, weight.data(), 1e-6f, 1, dim, head.data(), dim, Epilogue::kStore);
          ASSERT_EQ(std::memcmp(&y[at], head.data(), dim * 4), 0) << t->name << " head " << h;
        }
        for (uint32_t i = heads * dim; i < ld; ++i) ASSERT_EQ(y[r * ld + i], x[r * ld + i]);
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

double expected_glu(Gating gating, double g, double u) {
  switch (gating) {
    case Gating::kSilu:
      return g / (1 + std::exp(-g)) * u;
    case Gating::kGelu:
      return 0.5 * g * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (g + 0.044715 * g * g * g))) * u;
    case Gating::kClampedSilu:
      g = std::min(g, 7.0);
      return g / (1 + std::exp(-1.702 * g)) * (std::clamp(u, -7.0, 7.0) + 1);
  }
  return NAN;
}

TEST(Glu, MatchesTheDefinitionAlsoFarOut) {
  TaskPool pool(2, false);
  for (const Table* t : all_tables())
    for (const Gating gating : {Gating::kSilu, Gating::kGelu, Gating::kClampedSilu})
      for (const uint32_t cols : {1u, 17u, 1536u}) {
        const uint32_t rows = 20, ld = cols + 2;
        auto gate = random_values(rows * ld, 4, 8);
        auto up = random_values(rows * ld, 5, 4);
        gate[0] = -200;
        gate[ld] = 200;
        gate[2 * ld] = 0;
        up[3 * ld] = 200;
        up[4 * ld] = -200;
        auto y = gate;
        t->glu(pool, gating, y.data(), up.data(), ld, rows, cols);
        for (uint32_t r = 0; r < rows; ++r) {
          for (uint32_t i = 0; i < cols; ++i) {
            const float g = gate[r * ld + i], u = up[r * ld + i];
            const double expected = expected_glu(gating, g, u);
            // Far out to the left the tanh of the reference is 1 to within a few fp32 steps, times |g u|.
            const double error =
                std::abs(expected) * 4e-6 + (gating == Gating::kGelu ? 2e-7 * std::abs(g * u) : 0);
            ASSERT_NEAR(y[r * ld + i], expected, error + 1e-30)
                << t->name << " gating " << int(gating) << " of " << g << ", " << u;
          }
          ASSERT_EQ(y[r * ld + cols], gate[r * ld + cols]);
          std::vector<float> one(&gate[r * ld], &gate[r * ld] + ld);
          t->glu(pool, gating, one.data(), &up[r * ld], ld, 1, cols);
          ASSERT_EQ(std::memcmp(one.data(), &y[r * ld], ld * 4), 0) << t->name;
        }
      }
}

TEST(Glu, NanStaysNan) {
  TaskPool pool(1, false);
  for (const Table* t : all_tables())
    for (const Gating gating : {Gating::kSilu, Gating::kGelu, Gating::kClampedSilu})
      for (const bool in_gate : {false, true}) {
        std::vector<float> gate(20, 1), up(20, 1);
        (in_gate ? gate : up)[3] = NAN;
        t->glu(pool, gating, gate.data(), up.data(), 20, 1, 20);
        EXPECT_TRUE(std::isnan(gate[3])) << t->name << " gating " << int(gating);
        EXPECT_TRUE(std::isfinite(gate[4]));
      }
}

}  // namespace
}  // namespace reprise::kernels
