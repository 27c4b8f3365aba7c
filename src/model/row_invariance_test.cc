// A row's logits are the same bits however a prompt is cut into chunks and layers, and whatever shares the
// batch.
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "model/load.h"
#include "model/testing/sequence.h"
#include "model/testing/tiny_llama.h"

namespace reprise {
namespace {

using testing::Sequence;
using testing::TinyLlama;

std::vector<TokenId> random_tokens(size_t count, uint32_t seed) {
  std::vector<TokenId> tokens(count);
  uint32_t state = seed;
  for (TokenId& token : tokens)
    token = static_cast<TokenId>((state = state * 1664525 + 1013904223) >> 16) % 320;
  return tokens;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// Table name, then model.
class RowInvariance : public ::testing::TestWithParam<std::tuple<const char*, TinyLlama>> {
 protected:
  void SetUp() override {
    const auto& [table_name, options] = GetParam();
    auto table = kernels::select(table_name);
    if (!table) GTEST_SKIP() << table.error().message;
    const auto path = std::filesystem::path(::testing::TempDir()) /
                      fmt::format("reprise_rows_{}_{}_{}.gguf", getpid(), table_name, options.name);
    make_tiny_llama(options).write(path);
    auto model = load_model(path, pool_, **table);
    std::filesystem::remove(path);
    ASSERT_TRUE(model) << model.error().message;
    model_ = std::move(*model);
  }

  std::span<const float> row(const std::vector<float>& logits, size_t i) const {
    const size_t width = model_->vocabulary_size();
    return std::span(logits).subspan(i * width, width);
  }

  TaskPool pool_{3, /*pin=*/false};
  std::unique_ptr<Model> model_;
};

TEST_P(RowInvariance, ChunksAndLayerSlicesAgree) {
  const auto tokens = random_tokens(200, 1);
  const uint32_t layers = model_->layers();
  const auto whole = testing::all_logits(*model_, tokens, 200, layers);
  for (float logit : whole) ASSERT_TRUE(std::isfinite(logit));
  for (uint32_t chunk : {1u, 7u, 64u})
    EXPECT_TRUE(same_bits(whole, testing::all_logits(*model_, tokens, chunk, layers)))
        << "chunks of " << chunk;
  EXPECT_TRUE(same_bits(whole, testing::all_logits(*model_, tokens, 200, 1))) << "layer by layer";
  EXPECT_TRUE(same_bits(whole, testing::all_logits(*model_, tokens, 33, 1)))
      << "chunks of 33, layer by layer";
}

TEST_P(RowInvariance, LongSequencesCrossBlocksAndAttentionSplits) {
  const auto tokens = random_tokens(1100, 2);
  const auto whole = testing::all_logits(*model_, tokens, 1100, model_->layers());
  EXPECT_TRUE(same_bits(whole, testing::all_logits(*model_, tokens, 130, model_->layers())));
}

TEST_P(RowInvariance, OthersInTheBatchDoNotMatter) {
  const size_t kLengths[] = {90, 1, 37, 150};
  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::vector<float>> alone;
  for (size_t i = 0; i < std::size(kLengths); ++i) {
    prompts.push_back(random_tokens(kLengths[i], static_cast<uint32_t>(10 + i)));
    alone.push_back(testing::all_logits(*model_, prompts[i], 1000, model_->layers()));
  }
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}}) {
    std::vector<Sequence> sequences;
    std::vector<size_t> done(order.size(), 0);
    for (size_t i : order) sequences.emplace_back(*model_, prompts[i]);
    // Uneven steps: prefill chunks beside single tokens, sequences ending at different times.
    for (uint32_t step = 0;; ++step) {
      std::vector<SequenceRows> batch;
      std::vector<std::pair<size_t, uint32_t>> members;
      for (size_t s = 0; s < sequences.size(); ++s) {
        const uint32_t width = (step + s) % 3 == 0 ? 1 : 20 + 7 * static_cast<uint32_t>(s);
        const uint32_t count = std::min(width, sequences[s].remaining());
        if (count == 0) continue;
        batch.push_back(sequences[s].rows(count));
        members.emplace_back(s, count);
      }
      if (batch.empty()) break;
      Activations activations;
      model_->forward({batch, 0, 1}, activations);
      model_->forward({batch, 1, model_->layers()}, activations);
      // Logits of every row, last first.
      std::vector<uint32_t> wanted(activations.rows);
      for (uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = activations.rows - 1 - i;
      std::vector<float> logits(wanted.size() * model_->vocabulary_size());
      model_->logits(activations, wanted, logits.data());
      uint32_t first = 0;
      for (const auto& [s, count] : members) {
        for (uint32_t i = 0; i < count; ++i)
          ASSERT_TRUE(
              same_bits(row(alone[order[s]], done[s] + i), row(logits, activations.rows - 1 - (first + i))))
              << "sequence " << order[s] << " position " << done[s] + i;
        first += count;
        done[s] += count;
        sequences[s].advance(count);
      }
    }
  }
}

// Two llamas of many types, and the oracle's models of the other architectures.
std::vector<TinyLlama> models() {
  using enum kernels::WeightType;
  std::vector<TinyLlama> models = {
      {.name = "q4_1", .types = {kQ4_1}, .hidden = 128, .feed_forward = 160},
      {.name = "mixed",
       .types = {kQ6_K, kQ8_0, kQ4_0, kF16, kBF16, kQ4_1, kF32},
       .tied = false,
       .biases = true,
       .scaling = "yarn",
       .factor = 4,
       .original_context = 128},
      {.name = "blocks",
       .types = {kQ4_K, kQ5_K, kQ2_K, kQ3_K, kIQ4_XS, kIQ4_NL, kQ5_0, kQ5_1, kMXFP4},
       .tied = false},
  };
  for (const TinyLlama& model : testing::oracle_models())
    if (model.architecture != "llama") models.push_back(model);
  return models;
}

INSTANTIATE_TEST_SUITE_P(Tables, RowInvariance,
                         ::testing::Combine(::testing::Values("ref", "avx2", "avx512", "avx512bf16"),
                                            ::testing::ValuesIn(models())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace reprise
