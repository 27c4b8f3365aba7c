// Every weight type against the gguf package's numbers, bit for bit: from the file's blocks, and out of each
// table's packing. The golden blocks hold random bytes, subnormal, infinite and NaN scales, extreme codes.
#include "kernels/weight_format.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/testing/tables.h"

namespace reprise::kernels {
namespace {

struct GoldenType {
  std::string name;
  uint32_t count, bytes, elements;
  std::vector<std::byte> blocks;
  std::vector<float> values;
};

std::vector<GoldenType> read_golden() {
  std::ifstream file(REPRISE_ROOT "/tests/golden/weight_blocks.bin", std::ios::binary);
  std::vector<GoldenType> types;
  const auto read = [&](void* to, size_t bytes) {
    file.read(static_cast<char*>(to), static_cast<long>(bytes));
  };
  uint32_t length;
  while (read(&length, 4), file) {
    GoldenType& t = types.emplace_back();
    t.name.resize(length);
    read(t.name.data(), length);
    read(&t.count, 4);
    read(&t.bytes, 4);
    read(&t.elements, 4);
    t.blocks.resize(size_t{t.count} * t.bytes);
    read(t.blocks.data(), t.blocks.size());
    t.values.resize(size_t{t.count} * t.elements);
    read(t.values.data(), t.values.size() * 4);
  }
  return types;
}

WeightType type_named(const std::string& wanted) {
  for (int i = 0; i < kWeightTypes; ++i)
    if (wanted == name(static_cast<WeightType>(i))) return static_cast<WeightType>(i);
  ADD_FAILURE() << wanted << " is no weight type";
  return WeightType::kF32;
}

// The payload of a NaN depends on the order of operands: any NaN is as good as another.
void expect_same(const std::vector<float>& actual, const std::vector<float>& expected,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(actual[i]), std::bit_cast<uint32_t>(expected[i]))
        << what << ": weight " << i << " is " << actual[i] << ", wanted " << expected[i];
  }
}

TEST(WeightFormat, EveryTypeIsTheGgufPackagesBitForBit) {
  const auto golden = read_golden();
  std::set<std::string> seen;
  for (const GoldenType& g : golden) {
    const WeightType type = type_named(g.name);
    seen.insert(g.name);
    ASSERT_EQ(block_bytes(type), g.bytes) << g.name;
    ASSERT_EQ(block_elements(type), g.elements) << g.name;
    std::vector<float> values(g.values.size());
    dequantize_row(type, g.blocks.data(), static_cast<uint32_t>(values.size()), values.data());
    expect_same(values, g.values, g.name);
  }
  EXPECT_EQ(seen.size(), size_t{kWeightTypes});
}

TEST(WeightFormat, EveryTablesPackingKeepsTheGgufPackagesNumbers) {
  TaskPool pool(2, false);
  for (const GoldenType& g : read_golden()) {
    const WeightType type = type_named(g.name);
    for (const Table* table : testing::all_tables()) {
      // One block a row, and all blocks in one row.
      for (const uint32_t rows : {g.count, 1u}) {
        const uint32_t cols = g.count / rows * g.elements;
        const Matrix m = table->pack(pool, {type, rows, cols, g.blocks.data()});
        std::vector<float> values(g.values.size());
        for (uint32_t r = 0; r < rows; ++r) table->unpack_row(m, r, values.data() + size_t{r} * cols);
        expect_same(values, g.values, g.name + " of " + table->name);
      }
    }
  }
}

}  // namespace
}  // namespace reprise::kernels
