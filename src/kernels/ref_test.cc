// The oracle itself, against definitions written a second time in double.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/weight_format.h"

namespace reprise::kernels {
namespace {

TEST(Buffer, IsZeroAlignedAndMovable) {
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{5} << 20}) {
    Buffer a(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
    for (size_t i = 0; i < bytes; i += 97) ASSERT_EQ(a.data()[i], std::byte{0});
    a.data()[bytes - 1] = std::byte{7};
    Buffer b = std::move(a);
    EXPECT_EQ(b.data()[bytes - 1], std::byte{7});
    EXPECT_EQ(a.size(), 0u);
    b.reserve(bytes);
    EXPECT_EQ(b.data()[bytes - 1], std::byte{7});  // large enough already: kept
    b.reserve(2 * bytes);
    EXPECT_GE(b.size(), 2 * bytes);
  }
}

TEST(WeightFormat, HalfToFloatIsExactForEveryValue) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const int exponent = static_cast<int>(h >> 10 & 31), mantissa = static_cast<int>(h & 1023);
    double expected = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent == 31) expected = mantissa ? NAN : INFINITY;
    if (h & 0x8000) expected = -expected;
    const float actual = half_to_float(static_cast<uint16_t>(h));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(actual)) << h;
    else
      ASSERT_EQ(static_cast<double>(actual), expected) << h;
  }
}

TEST(Ref, AttentionIsSoftmaxOverOwnAndEarlierPositions) {
  TaskPool pool(2, false);
  const Table& t = ref_table();
  const KvShape shape{16, 2, 2, 6};
  const uint32_t rows = 37, heads = 4, dim = 6;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> q(rows * heads * dim), k(rows * 2 * dim), v(rows * 2 * dim), out(q.size());
  for (auto* values : {&q, &k, &v})
    for (float& x : *values) x = normal(random);
  std::vector<Buffer> memory;
  std::vector<std::byte*> pages;
  for (uint32_t i = 0; i < 3; ++i) pages.push_back(memory.emplace_back(t.kv_page_bytes(shape)).data());
  const Slice slice{0, rows, 0, pages};
  t.kv_write(pool, shape, 1, {&slice, 1}, k.data(), v.data(), 2 * dim);
  Buffer scratch;
  t.attention(pool, {.shape = &shape,
                     .layer = 1,
                     .heads = heads,
                     .scale = 0.3f,
                     .slices = {&slice, 1},
                     .q = q.data(),
                     .q_ld = heads * dim,
                     .out = out.data(),
                     .out_ld = heads * dim,
                     .scratch = &scratch});
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t h = 0; h < heads; ++h) {
      double sum = 0, expected[dim] = {};
      for (uint32_t p = 0; p <= r; ++p) {
        double score = 0;
        for (uint32_t d = 0; d < dim; ++d)
          score += double(q[(r * heads + h) * dim + d]) * k[(p * 2 + h / 2) * dim + d];
        sum += std::exp(score * 0.3);
        for (uint32_t d = 0; d < dim; ++d)
          expected[d] += std::exp(score * 0.3) * v[(p * 2 + h / 2) * dim + d];
      }
      for (uint32_t d = 0; d < dim; ++d) ASSERT_NEAR(out[(r * heads + h) * dim + d], expected[d] / sum, 2e-5);
    }
}

}  // namespace
}  // namespace reprise::kernels
