// The reference table against fp32 transformers: max |difference| / max |logit| <= 1e-3.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "golden.h"
#include "model/testing/sequence.h"
#include "model/testing/tiny_llama.h"

namespace reprise::testing {
namespace {

constexpr float kBound = 1e-3f;

std::vector<float> at_positions(const std::vector<float>& logits, const std::vector<uint32_t>& positions,
                                size_t width) {
  std::vector<float> chosen;
  for (uint32_t position : positions)
    chosen.insert(chosen.end(), logits.begin() + position * width, logits.begin() + (position + 1) * width);
  return chosen;
}

TEST(GoldenLogits, RandomModelsOfEveryTypeMatchTransformers) {
  const Golden golden = read_golden("tiny");
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_golden_{}", getpid());
  std::filesystem::create_directories(folder);
  size_t offset = 0;
  ASSERT_EQ(golden.models.size(), oracle_models().size());
  for (const std::string& name : golden.models) {
    SCOPED_TRACE(name);
    const auto models = oracle_models();
    const auto options = std::ranges::find(models, name, &TinyLlama::name);
    ASSERT_NE(options, models.end());
    const auto path = folder / (name + ".gguf");
    make_tiny_llama(*options).write(path);
    const auto model = load(path, kernels::ref_table());
    const size_t width = model->vocabulary_size();
    const auto ours =
        at_positions(all_logits(*model, golden.tokens, 64, model->layers()), golden.positions, width);
    const auto theirs = std::span(golden.logits).subspan(offset, golden.positions.size() * width);
    offset += theirs.size();
    const float error = relative_error(ours, theirs);
    EXPECT_LE(error, kBound);
    RecordProperty(name, std::to_string(error));
    std::printf("%-16s max |difference| / max |logit| = %.2e\n", name.c_str(), error);
  }
  std::filesystem::remove_all(folder);
}

TEST(GoldenLogits, SmolLm2MatchesTransformers) {
  const auto path = smollm2();
  if (!path) GTEST_SKIP() << "no SmolLM2 here; ./dev test fetches it";
  const Golden golden = read_golden("smollm2");
  const auto model = load(*path, kernels::ref_table());
  Sequence sequence(*model, {golden.tokens.begin(), golden.tokens.begin() + golden.positions.back() + 1});
  const SequenceRows rows = sequence.rows(sequence.remaining());
  Activations activations;
  model->forward({{&rows, 1}, 0, model->layers()}, activations);
  std::vector<float> ours(golden.positions.size() * model->vocabulary_size());
  model->logits(activations, golden.positions, ours.data());
  const float error = relative_error(ours, golden.logits);
  EXPECT_LE(error, kBound);
  std::printf("%-16s max |difference| / max |logit| = %.2e\n", "SmolLM2", error);
}

}  // namespace
}  // namespace reprise::testing
