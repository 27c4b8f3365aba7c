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

using Logits = std::vector<float>;

Logits at_positions(const Logits& logits, const std::vector<uint32_t>& positions, size_t width) {
  Logits chosen;
  for (uint32_t position : positions)
    chosen.insert(chosen.end(), logits.begin() + position * width, logits.begin() + (position + 1) * width);
  return chosen;
}

// The ways in which a sequence's logits come about.
struct Way {
  const char* name;
  Logits (*run)(Model& model, const std::vector<TokenId>& tokens);
};
template <uint32_t chunk>
Logits chunked(Model& model, const std::vector<TokenId>& tokens) {
  return all_logits(model, tokens, chunk, model.layers());
}
// Another sequence, run to its end: what memory holds that was in use.
Sequence ended(Model& model, const std::vector<TokenId>& tokens) {
  Sequence other(model, {tokens.rbegin(), tokens.rend()});
  remaining_logits(model, other, 100, model.layers());
  return other;
}
// Half comes from another sequence's pages, the last of them filled in part; the other half goes into pages
// that a third one left.
Logits cached(Model& model, const std::vector<TokenId>& tokens) {
  const auto half = static_cast<uint32_t>(tokens.size() / 2);
  Sequence first(model, {tokens.begin(), tokens.begin() + half});
  first.reuse(ended(model, tokens));
  Logits logits = remaining_logits(model, first, 100, model.layers());
  Sequence second(model, tokens, first, half);
  second.reuse(ended(model, tokens));
  const Logits rest = remaining_logits(model, second, 100, model.layers());
  logits.insert(logits.end(), rest.begin(), rest.end());
  return logits;
}
// Loses its pages on the way and starts anew, layer by layer, in the same ones in another order, which others
// have used meanwhile.
Logits preempted(Model& model, const std::vector<TokenId>& tokens) {
  Sequence lost(model, tokens);
  lost.reuse(ended(model, tokens));
  const SequenceRows rows = lost.rows(170);
  Activations activations;
  model.forward({{&rows, 1}, 0, model.layers()}, activations);
  Sequence again(model, tokens);
  again.reuse(std::move(lost));
  return remaining_logits(model, again, 33, 1);
}
constexpr Way kWays[] = {
    {"prefill", chunked<1000>}, {"decode", chunked<1>}, {"chunks of 7", chunked<7>}, {"of 64", chunked<64>},
    {"of 257", chunked<257>},   {"cached", cached},     {"preempted", preempted},
};

class GoldenLogits : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenLogits, RandomModelsMatchTransformers) {
  const std::string architecture = GetParam();
  const Golden golden = read_golden(architecture);
  std::vector<TinyLlama> models = oracle_models();
  std::erase_if(models, [&](const TinyLlama& model) { return model.architecture != architecture; });
  ASSERT_EQ(golden.models.size(), models.size());
  size_t offset = 0;
  for (const std::string& name : golden.models) {
    SCOPED_TRACE(name);
    const auto options = std::ranges::find(models, name, &TinyLlama::name);
    ASSERT_NE(options, models.end());
    const auto path = std::filesystem::path(::testing::TempDir()) /
                      fmt::format("reprise_golden_{}_{}.gguf", name, getpid());
    make_tiny_llama(*options).write(path);
    const auto model = load(path, kernels::ref_table());
    std::filesystem::remove(path);
    const size_t width = model->vocabulary_size();
    const auto theirs = std::span(golden.logits).subspan(offset, golden.positions.size() * width);
    offset += theirs.size();
    float worst = 0;
    for (const Way& way : kWays) {
      const auto ours = at_positions(way.run(*model, golden.tokens), golden.positions, width);
      const float error = relative_error(ours, theirs);
      EXPECT_LE(error, kBound) << way.name;
      worst = std::max(worst, error);
      if (kSanitized) break;
    }
    RecordProperty(name, std::to_string(worst));
    std::printf("%-16s max |difference| / max |logit| = %.2e\n", name.c_str(), worst);
  }
}

std::vector<std::string> oracle_architectures() {
  std::vector<std::string> names;
  for (const TinyLlama& model : oracle_models())
    if (std::ranges::find(names, model.architecture) == names.end()) names.push_back(model.architecture);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Architectures, GoldenLogits, ::testing::ValuesIn(oracle_architectures()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Of the reference table, in one pass, where the golden file has logits.
float error_of_real_model(const std::filesystem::path& path, const Golden& golden) {
  const auto model = load(path, kernels::ref_table());
  Sequence sequence(*model, {golden.tokens.begin(), golden.tokens.begin() + golden.positions.back() + 1});
  const SequenceRows rows = sequence.rows(sequence.remaining());
  Activations activations;
  model->forward({{&rows, 1}, 0, model->layers()}, activations);
  const size_t width = model->vocabulary_size();
  Logits all(golden.positions.size() * width), ours;
  model->logits(activations, golden.positions, all.data());
  for (size_t row = 0; row < golden.positions.size(); ++row)
    for (size_t i = 0; i < width; i += golden.stride) ours.push_back(all[row * width + i]);
  return relative_error(ours, golden.logits);
}

TEST(GoldenLogitsOfARealModel, SmolLm2MatchesTransformers) {
  const auto path = smollm2();
  if (!path) GTEST_SKIP() << "no SmolLM2 here; ./dev test fetches it";
  const float error = error_of_real_model(*path, read_golden("smollm2"));
  EXPECT_LE(error, kBound);
  std::printf("%-16s max |difference| / max |logit| = %.2e\n", "SmolLM2", error);
}

TEST(GoldenLogitsOfARealModel, Gemma3MatchesTransformers) {
  const auto path = gemma3();
  if (!path || kSanitized) GTEST_SKIP() << "no Gemma 3 here (./dev oracle fetches it), or sanitizers";
  const float error = error_of_real_model(*path, read_golden("gemma3_270m"));
  EXPECT_LE(error, kBound);
  std::printf("%-16s max |difference| / max |logit| = %.2e\n", "Gemma 3", error);
}

}  // namespace
}  // namespace reprise::testing
