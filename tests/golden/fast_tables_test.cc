// The fast tables against the reference, token by token over source code: mean KL divergence <= 1e-3 and the
// same most likely token at >= 99 % of the positions. Fast tables quantise activations to 15 bits and keep KV
// in bf16.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "golden.h"
#include "model/testing/sequence.h"

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

TEST(FastTables, AgreeWithTheReferenceOnSourceCode) {
  const auto path = smollm2();
  if (!path) GTEST_SKIP() << "no SmolLM2 here; ./dev test fetches it";
  std::vector<TokenId> tokens = read_golden("smollm2").tokens;
  ASSERT_GE(tokens.size(), 2000u);
  if (kSanitized) tokens.resize(kChunk);

  std::vector<Candidate> candidates;
  for (const char* name : {"avx2", "avx512"})
    if (auto table = kernels::select(name)) candidates.push_back({*table, load(*path, **table), {}});
  if (candidates.empty()) GTEST_SKIP() << "no fast table for this CPU";
  const auto reference = load(*path, kernels::ref_table());
  const size_t width = reference->vocabulary_size();
  Sequence sequence(*reference, tokens);
  for (Candidate& candidate : candidates) candidate.sequence.emplace(*candidate.model, tokens);

  while (sequence.remaining() > 0) {
    const uint32_t count = std::min(kChunk, sequence.remaining());
    const std::vector<float> expected = next_chunk(*reference, sequence, count);
    for (Candidate& candidate : candidates)
      compare(expected, next_chunk(*candidate.model, *candidate.sequence, count), width, candidate);
  }
  for (const Candidate& candidate : candidates) {
    const auto n = static_cast<double>(tokens.size());
    const double kl = candidate.kl / n, same = static_cast<double>(candidate.same_top) / n;
    EXPECT_LE(kl, 1e-3) << candidate.table->name;
    EXPECT_GE(same, 0.99) << candidate.table->name;
    std::printf("%-8s mean KL %.2e, same top token %.2f %% of %zu\n", candidate.table->name, kl, 100 * same,
                tokens.size());
  }
}

}  // namespace
}  // namespace reprise::testing
