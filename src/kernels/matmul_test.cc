// Matrix multiply of every table: values against the oracle within what 15-bit activations can cost, bits
// against itself for any number of rows.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cpu/tables.h"
#include "kernels/table.h"
#include "kernels/testing/tables.h"
#include "kernels/testing/weights.h"
#include "kernels/weight_format.h"

namespace reprise::kernels {
namespace {

using testing::all_tables;
using testing::every_type;
using testing::fast_tables;
using testing::random_matrix;

std::vector<float> random_rows(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& v : x) v = normal(random) * (random() % 50 == 0 ? 20.0f : 1.0f);
  return x;
}

std::vector<float> multiply(const Table& t, TaskPool& pool, const MatrixSource& source,
                            const std::vector<float>& x, uint32_t rows, Epilogue epilogue = Epilogue::kStore,
                            float initial = 0) {
  const Matrix w = t.pack(pool, source);
  Input input;
  t.prepare(pool, x.data(), rows, source.cols, source.cols, input);
  const size_t ld = source.rows + 3;
  std::vector<float> y(rows * ld, initial), out;
  t.matmul(pool, input, w, y.data(), ld, epilogue);
  for (uint32_t r = 0; r < rows; ++r) {
    for (size_t n = source.rows; n < ld; ++n) EXPECT_EQ(y[r * ld + n], initial) << "written past the row";
    out.insert(out.end(), &y[r * ld], &y[r * ld + source.rows]);
  }
  return out;
}

// The largest of the terms that make up a weight: scale * level and minimum may cancel, but each is rounded.
double magnitude(WeightType type, const std::byte* row, uint32_t k, float w) {
  const WeightFormat& f = format_of(type);
  if (!has_minimum(f.scaling)) return std::abs(w);
  WeightBlock block;
  read_block(type, row + k / f.block * f.bytes, block);
  const uint32_t run = k % f.block / f.run;
  return ((1 << f.code_bits) - 1) * std::abs(run_scale(f.scaling, block.d, block.scale[run])) +
         std::abs(run_minimum(f.scaling, block.m, block.minimum[run]));
}

class EveryType : public ::testing::TestWithParam<WeightType> {};
INSTANTIATE_TEST_SUITE_P(Matmul, EveryType, ::testing::ValuesIn(every_type()),
                         [](const auto& i) { return name(i.param); });

TEST_P(EveryType, UnpackRowIsExactlyTheFilesValue) {
  TaskPool pool(2, false);
  const WeightType type = GetParam();
  const uint32_t rows = 37, cols = block_elements(type) == 1 ? 41 : 512;
  const auto data = random_matrix(type, rows, cols, 1);
  const MatrixSource source{type, rows, cols, data.data()};
  for (const Table* t : all_tables()) {
    const Matrix m = t->pack(pool, source);
    EXPECT_GE(m.bytes(), data.size());
    std::vector<float> expected(cols), actual(cols);
    for (uint32_t r = 0; r < rows; ++r) {
      dequantize_row(type, data.data() + r * row_bytes(type, cols), cols, expected.data());
      t->unpack_row(m, r, actual.data());
      ASSERT_EQ(std::memcmp(expected.data(), actual.data(), cols * 4), 0) << t->name << " row " << r;
    }
  }
}

TEST_P(EveryType, AgreesWithRefWithinActivationRounding) {
  TaskPool pool(2, false);
  const WeightType type = GetParam();
  const size_t block = block_elements(type);
  const bool quantised = block > 1;
  for (const auto& [outs, blocks, rows] : {std::tuple{1u, 1u, 1u},
                                           {16u, 2u, 3u},
                                           {33u, 3u, 5u},
                                           {50u, 1u, 70u},
                                           {100u, 2u, 14u},
                                           {8u, 4u, 97u},
                                           {129u, 9u, 2u},
                                           {20u, 1u, 300u}}) {
    const uint32_t cols = static_cast<uint32_t>(quantised ? block * blocks : blocks * 13);
    const auto data = random_matrix(type, outs, cols, outs);
    const MatrixSource source{type, outs, cols, data.data()};
    const auto x = random_rows(size_t{rows} * cols, rows);
    const auto expected = multiply(ref_table(), pool, source, x, rows);
    for (const Table* t : fast_tables()) {
      const auto actual = multiply(*t, pool, source, x, rows);
      std::vector<float> w(cols);
      for (uint32_t n = 0; n < outs; ++n) {
        dequantize_row(type, data.data() + n * row_bytes(type, cols), cols, w.data());
        for (uint32_t r = 0; r < rows; ++r) {
          // An activation is off by at most half a step of its group, max / 32512; sums in fp32 by a few ulp.
          double bound = 1e-30;
          for (uint32_t k = 0; k < cols; ++k) {
            float largest = std::abs(x[r * cols + k]);
            for (uint32_t i = k / 32 * 32; quantised && i < k / 32 * 32 + 32; ++i)
              largest = std::max(largest, std::abs(x[r * cols + i]));
            if (quantised) bound += std::abs(w[k]) * largest / 32512;
            bound += 4e-6 * largest * magnitude(type, data.data() + n * row_bytes(type, cols), k, w[k]);
          }
          ASSERT_NEAR(actual[r * outs + n], expected[r * outs + n], bound) << t->name << " " << r << "," << n;
        }
      }
    }
  }
}

TEST_P(EveryType, ARowIsTheSameBitsAmongAnyOthers) {
  TaskPool pool(2, false);
  const WeightType type = GetParam();
  const uint32_t cols = block_elements(type) == 1 ? 300 : 768, outs = 75, most = 512;
  const auto data = random_matrix(type, outs, cols, 3);
  const MatrixSource source{type, outs, cols, data.data()};
  const auto x = random_rows(size_t{most} * cols, 4);
  for (const Table* t : all_tables()) {
    const auto all = multiply(*t, pool, source, x, most);
    for (const uint32_t rows : {1u, 2u, 3u, 4u, 5u, 7u, 12u, 13u, 16u, 64u, 101u}) {
      for (const uint32_t first : {0u, 17u, most - rows}) {
        const std::vector<float> part(x.begin() + first * cols, x.begin() + (first + rows) * cols);
        const auto some = multiply(*t, pool, source, part, rows);
        ASSERT_EQ(std::memcmp(some.data(), &all[first * outs], some.size() * 4), 0)
            << t->name << ": " << rows << " rows from " << first;
      }
    }
    TaskPool alone(1, false);
    const auto single = multiply(*t, alone, source, x, most);
    ASSERT_EQ(std::memcmp(single.data(), all.data(), all.size() * 4), 0) << t->name << ": threads";
  }
}

TEST_P(EveryType, AddIsTheProductAddedOnce) {
  TaskPool pool(2, false);
  const WeightType type = GetParam();
  const uint32_t cols = 512, outs = 40;
  const auto data = random_matrix(type, outs, cols, 5);
  const MatrixSource source{type, outs, cols, data.data()};
  const auto x = random_rows(size_t{30} * cols, 6);
  for (const Table* t : all_tables())
    for (const uint32_t rows : {1u, 30u}) {
      const auto stored = multiply(*t, pool, source, x, rows);
      const auto added = multiply(*t, pool, source, x, rows, Epilogue::kAdd, 0.75f);
      for (size_t i = 0; i < stored.size(); ++i) ASSERT_EQ(added[i], 0.75f + stored[i]) << t->name;
    }
}

TEST(Matmul, SeveralProductsInOneCallAreTheSameAsOneByOne) {
  TaskPool pool(2, false);
  const uint32_t cols = 256;
  const auto x = random_rows(size_t{100} * cols, 7);
  for (const Table* t : fast_tables())
    for (const uint32_t rows : {1u, 100u}) {
      Input input;
      t->prepare(pool, x.data(), rows, cols, cols, input);
      std::vector<Matrix> matrices;
      std::vector<std::vector<float>> one, many;
      for (const WeightType type : every_type()) {
        const uint32_t outs = 20 + static_cast<uint32_t>(type) * 31;
        const auto data = random_matrix(type, outs, cols, outs);
        matrices.push_back(t->pack(pool, {type, outs, cols, data.data()}));
        one.emplace_back(rows * outs);
        many.emplace_back(rows * outs);
        t->matmul(pool, input, matrices.back(), one.back().data(), outs, Epilogue::kStore);
      }
      std::vector<Product> products;
      for (size_t i = 0; i < matrices.size(); ++i)
        products.push_back({&matrices[i], many[i].data(), matrices[i].rows});
      for (size_t i = 0; i < products.size(); i += 8)  // as many as a call takes
        t->products(pool, input, std::span(products).subspan(i, std::min<size_t>(8, products.size() - i)),
                    Epilogue::kStore);
      EXPECT_EQ(one, many);
    }
}

TEST(Matmul, ZeroAndTinyRowsGiveZeroNotNan) {
  TaskPool pool(1, false);
  const auto data = random_matrix(WeightType::kQ8_0, 16, 64, 8);
  for (const float value : {0.0f, 1e-38f, 1e-44f}) {
    const std::vector<float> x(64, value);
    for (const Table* t : fast_tables())
      for (const float y : multiply(*t, pool, {WeightType::kQ8_0, 16, 64, data.data()}, x, 1))
        EXPECT_EQ(y, 0.0f);
  }
}

// A value that is not finite must reach every result of its row, and no other row.
TEST_P(EveryType, NonFiniteActivationsGiveNonFiniteResults) {
  TaskPool pool(2, false);
  const WeightType type = GetParam();
  const uint32_t cols = 512, outs = 20, rows = 9;
  const auto data = random_matrix(type, outs, cols, 9);
  const MatrixSource source{type, outs, cols, data.data()};
  const auto clean = random_rows(size_t{rows} * cols, 10);
  for (const Table* t : all_tables()) {
    const auto expected = multiply(*t, pool, source, clean, rows);
    for (const float bad : {std::nanf(""), -std::nanf(""), INFINITY, -INFINITY})
      for (const uint32_t at : {0u, 5u, 16u, 31u, 300u, cols - 1})
        for (const uint32_t row : {0u, 7u}) {
          auto x = clean;
          x[row * cols + at] = bad;
          const auto y = multiply(*t, pool, source, x, rows);
          for (uint32_t i = 0; i < rows * outs; ++i) {
            if (i / outs == row) {
              ASSERT_FALSE(std::isfinite(y[i])) << t->name << ": " << bad << " at " << at;
            } else {
              ASSERT_EQ(y[i], expected[i]) << t->name << ": row " << i / outs;
            }
          }
        }
  }
}

TEST(MatmulDeathTest, WrongShapesAbort) {
  TaskPool pool(1, false);
  const auto data = random_matrix(WeightType::kQ8_0, 16, 64, 8);
  for (const Table* t : all_tables()) {
    const Matrix w = t->pack(pool, {WeightType::kQ8_0, 16, 64, data.data()});
    Input input;
    std::vector<float> x(96), y(16);
    t->prepare(pool, x.data(), 1, 96, 96, input);
    EXPECT_DEATH(t->matmul(pool, input, w, y.data(), 16, Epilogue::kStore), "64 columns, input 96");
    EXPECT_DEATH(t->pack(pool, {WeightType::kQ8_0, 1, 33, data.data()}), "33 columns");
    EXPECT_DEATH(t->unpack_row(w, 16, x.data()), "row 16 of 16");
  }
}

TEST(Select, ByNameOrErrorThatSaysWhatToDo) {
  EXPECT_STREQ((*select("ref"))->name, "ref");
  for (const Table* t : fast_tables()) EXPECT_EQ(*select(t->name), t);
  if (cpu::has_avx512()) {
    EXPECT_STREQ((*select())->name, cpu::has_fast_avx512bf16() ? "avx512bf16" : "avx512");
  }
  const auto unknown = select("amx9");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("use ref, avx2, avx512 or avx512bf16"));
}

}  // namespace
}  // namespace reprise::kernels
