// The fast tables against the reference, token by token: mean KL divergence <= 1e-3, over source code also
// the same most likely token at >= 99 % of the positions. Fast tables quantise activations to 15 bits and
// keep KV in bf16; some round queries and the weights of attention to bf16 as well.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "golden.h"
#include "kernels/testing/tables.h"
#include "model/testing/sequence.h"
#include "model/testing/tiny_llama.h"

namespace reprise::testing {
namespace {

constexpr uint32_t kChunk = 128;

struct Candidate {
  const kernels::Table* table;
  std::unique_ptr<Model> model;
  std::optional<Sequence> sequence;
  double kl = 0;
  size_t same_top = 0;
};

// Adds the rows of one chunk: KL(reference || candidate) in nats, and agreements of the arg max.
void compare(std::span<const float> reference, std::span<const float> candidate, size_t width,
             Candidate& sums) {
  const auto log_sum = [](std::span<const float> x) {
    const float top = *std::ranges::max_element(x);
    double sum = 0;
    for (float v : x) sum += std::exp(static_cast<double>(v - top));
    return top + std::log(sum);
  };
  for (size_t begin = 0; begin < reference.size(); begin += width) {
    const auto p = reference.subspan(begin, width), q = candidate.subspan(begin, width);
    const double p_norm = log_sum(p), q_norm = log_sum(q);
    double kl = 0;
    for (size_t i = 0; i < width; ++i) {
      const double log_p = p[i] - p_norm;
      kl += std::exp(log_p) * (log_p - (q[i] - q_norm));
    }
    sums.kl += kl;
    sums.same_top += std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin();
  }
}

std::vector<float> next_chunk(Model& model, Sequence& sequence, uint32_t count) {
  const SequenceRows rows = sequence.rows(count);
  Activations activations;
  model.forward({{&rows, 1}, 0, model.layers()}, activations);
  std::vector<uint32_t> wanted(count);
  for (uint32_t i = 0; i < count; ++i) wanted[i] = i;
  std::vector<float> logits(size_t{count} * model.vocabulary_size());
  model.logits(activations, wanted, logits.data());
  sequence.advance(count);
  return logits;
}

// The candidates' sums over all tokens, a chunk at a time.
void compare_all(Model& reference, const std::vector<TokenId>& tokens, std::vector<Candidate>& candidates) {
  Sequence sequence(reference, tokens);
  for (Candidate& candidate : candidates) candidate.sequence.emplace(*candidate.model, tokens);
  while (sequence.remaining() > 0) {
    const uint32_t count = std::min(kChunk, sequence.remaining());
    const std::vector<float> expected = next_chunk(reference, sequence, count);
    for (Candidate& candidate : candidates)
      compare(expected, next_chunk(*candidate.model, *candidate.sequence, count), reference.vocabulary_size(),
              candidate);
  }
}

std::vector<Candidate> load_candidates(const std::filesystem::path& path) {
  std::vector<Candidate> candidates;
  for (const kernels::Table* table : kernels::testing::fast_tables())
    candidates.push_back({table, load(path, *table), {}});
  return candidates;
}

TEST(FastTables, AgreeWithTheReferenceOnSourceCode) {
  const auto path = smollm2();
  if (!path) GTEST_SKIP() << "no SmolLM2 here; ./dev test fetches it";
  std::vector<TokenId> tokens = read_golden("smollm2").tokens;
  ASSERT_GE(tokens.size(), 2000u);
  if (kSanitized) tokens.resize(kChunk);  // too few for a narrow percentage
  std::vector<Candidate> candidates = load_candidates(*path);
  if (candidates.empty()) GTEST_SKIP() << "no fast table for this CPU";
  compare_all(*load(*path, kernels::ref_table()), tokens, candidates);
  for (const Candidate& candidate : candidates) {
    const auto n = static_cast<double>(tokens.size());
    const double kl = candidate.kl / n, same = static_cast<double>(candidate.same_top) / n;
    EXPECT_LE(kl, 1e-3) << candidate.table->name;
    EXPECT_GE(same, kSanitized ? 0.95 : 0.99) << candidate.table->name;
    std::printf("%-10s mean KL %.2e, same top token %.2f %% of %zu\n", candidate.table->name, kl, 100 * same,
                tokens.size());
  }
}

// What the option costs: keys and values in int8 against the same table with them in bf16.
TEST(FastTables, Int8KeysAndValuesCostLittle) {
  const auto path = smollm2();
  if (!path) GTEST_SKIP() << "no SmolLM2 here; ./dev test fetches it";
  const auto table = kernels::select();
  if (!table || *table == &kernels::ref_table()) GTEST_SKIP() << "no fast table for this CPU";
  std::vector<TokenId> tokens = read_golden("smollm2").tokens;
  if (kSanitized) tokens.resize(kChunk);  // too few for a narrow percentage
  std::vector<Candidate> candidates;
  candidates.push_back({*table, load(*path, **table, {.kv_type = kernels::KvType::kInt8}), {}});
  compare_all(*load(*path, **table), tokens, candidates);
  const auto n = static_cast<double>(tokens.size());
  const double kl = candidates[0].kl / n, same = static_cast<double>(candidates[0].same_top) / n;
  EXPECT_LE(kl, 1e-3);
  EXPECT_GE(same, kSanitized ? 0.95 : 0.98);
  std::printf("%-10s int8 against bf16 KV: mean KL %.2e, same top token %.2f %% of %zu\n", (*table)->name, kl,
              100 * same, tokens.size());
}

// Where two experts are nearly as good as each other, the least rounding chooses the other one. So routers
// are made to choose clearly, or so that it matters little: a softmax gives nearly all weight to the first,
// and of sigmoids that hardly differ the selection bias decides.
float decisive_router(const TinyLlama& options) { return options.experts.selection_bias ? 0.1f : 12; }

// Long enough for windows to slide over the border at which attention is split.
TEST(FastTables, AgreeWithTheReferenceOnEveryArchitecture) {
  const std::vector<TokenId> some = read_golden("llama").tokens;
  std::vector<TokenId> tokens;
  while (tokens.size() < (kSanitized ? 100 : 700)) tokens.push_back(some[tokens.size() * 7 % some.size()]);
  for (TinyLlama& options : oracle_models()) {
    options.experts.router_gain = decisive_router(options);
    const auto path = std::filesystem::path(::testing::TempDir()) /
                      fmt::format("reprise_fast_{}_{}.gguf", options.name, getpid());
    make_tiny_llama(options).write(path);
    std::vector<Candidate> candidates = load_candidates(path);
    compare_all(*load(path, kernels::ref_table()), tokens, candidates);
    std::filesystem::remove(path);
    for (const Candidate& candidate : candidates) {
      const double kl = candidate.kl / static_cast<double>(tokens.size());
      EXPECT_LE(kl, 1e-3) << options.name << " " << candidate.table->name;
      std::printf("%-16s %-10s mean KL %.2e\n", options.name.c_str(), candidate.table->name, kl);
    }
  }
}

}  // namespace
}  // namespace reprise::testing
