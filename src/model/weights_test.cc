#include "model/weights.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/testing/tables.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;

// Containers may hold a tensor in pieces, whatever it is for.
TEST(WeightLoader, TensorsInPartsAreReadWhole) {
  const std::array<float, 2> first = {1, 2}, second = {3, 4};
  GgufTensor tensor{.name = "t", .type = gguf_type(0), .dimensions = 2};
  tensor.size[0] = 2;
  tensor.size[1] = 2;
  tensor.elements = 4;
  tensor.parts = {std::as_bytes(std::span(first)), std::as_bytes(std::span(second))};
  ModelFile file;
  file.add_tensor(tensor);

  TaskPool pool(1, /*pin=*/false);
  LoadProgress progress;
  WeightLoader weights(file, pool, kernels::ref_table(), WeightLoader::Mode::kPack,
                       [&](const LoadProgress& p) { progress = p; });
  EXPECT_THAT(weights.floats("t", 2, 2).value(), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(weights.matrix("t", 2, 2));
  EXPECT_EQ(progress.bytes_total, 16u);
  EXPECT_EQ(progress.bytes_done, 32u) << "both times";
}

TEST(WeightLoader, StacksArePackedFromPartsAsFromOnePiece) {
  TaskPool pool(2, /*pin=*/false);
  constexpr uint32_t kRows = 19, kCols = 32, kCount = 3;
  std::vector<float> values(kCount * kRows * kCols);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto bytes = std::as_bytes(std::span(values));
  GgufTensor whole{.name = "whole", .type = gguf_type(0), .dimensions = 3, .elements = values.size()};
  whole.size[0] = kCols, whole.size[1] = kRows, whole.size[2] = kCount;
  GgufTensor apart = whole;
  apart.name = "apart";
  whole.bytes = bytes;
  for (size_t i = 0; i < kCount; ++i)
    apart.parts.push_back(bytes.subspan(i * bytes.size() / kCount, bytes.size() / kCount));
  ModelFile file;
  file.add_tensor(whole);
  file.add_tensor(apart);
  for (const kernels::Table* table : kernels::testing::all_tables()) {
    WeightLoader weights(file, pool, *table, WeightLoader::Mode::kPack);
    const auto a = weights.stack("whole", {kCount, 1}, kRows, kCols),
               b = weights.stack("apart", {kCount, 1}, kRows, kCols);
    std::vector<float> x(kCols), y(kCols);
    for (uint32_t row = 0; row < kCount * kRows; ++row) {
      table->unpack_row(*a, row, x.data());
      table->unpack_row(*b, row, y.data());
      ASSERT_EQ(x, y) << table->name << " row " << row;
      ASSERT_EQ(x[0], values[row * kCols]);
    }
  }
}

}  // namespace
}  // namespace reprise
