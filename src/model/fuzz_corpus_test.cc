// The seeds that are kept are those that the writer makes now: a format or a test model that changes makes
// them stale, and an absent one tests nothing.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "model/gguf.h"
#include "model/testing/gguf_mutator.h"
#include "model/testing/model_corpus.h"

namespace reprise::testing {
namespace {

TEST(FuzzCorpus, HasEverySeedThatTheWriterMakes) {
  for (const auto& [name, bytes] : model_corpus()) {
    const std::string path = REPRISE_ROOT "/tests/fuzz/corpus/" + name;
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file.good()) << path << " is missing: run write_model_corpus tests/fuzz/corpus";
    const std::vector<char> kept{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(kept.size(), bytes.size()) << path << " is stale: run write_model_corpus tests/fuzz/corpus";
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), reinterpret_cast<const char*>(bytes.data()))) << path;
    EXPECT_LE(bytes.size(), 20'000u) << path;
  }
}

TEST(GgufMutator, WritesWhatItReadsAndMostlyWhatParses) {
  std::mt19937 random(5);
  size_t files = 0, read = 0, unlike = 0;
  for (const auto& [name, bytes] : model_corpus()) {
    if (!name.starts_with("gguf_fuzz/") || !parse_gguf(bytes)) continue;
    const auto parts = GgufParts::read(bytes);
    ASSERT_TRUE(parts) << name;
    const auto same = parts->write();
    ASSERT_TRUE(parse_gguf(same)) << name;
    for (int i = 0; i < 50; ++i, ++files) {
      GgufParts mutated = *parts;
      mutated.mutate(random);
      const auto written = mutated.write();
      read += parse_gguf(written).has_value();
      unlike += written != same;
    }
  }
  EXPECT_GT(files, 500u);
  EXPECT_GT(read, files / 4) << "they reach the code behind the parser";
  EXPECT_LT(read, files) << "and what the parser refuses";
  EXPECT_GT(unlike, files / 2);
}

}  // namespace
}  // namespace reprise::testing
