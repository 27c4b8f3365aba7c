#include "engine/sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "engine/sampler/philox.h"

namespace reprise {
namespace {

using Logits = std::vector<float>;

// Published known answers of philox4x32-10 (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RowScan, ExpWeightsAreAccurateAndNeverOverflow) {
  Logits row;
  for (float x = 0; x > -120; x -= 0.00731f) row.push_back(x);
  row.push_back(-std::numeric_limits<float>::infinity());
  Logits weights(row.size());
  const double total = exp_weights(row, 0, 1, weights.data());
  double expected_total = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double expected = row[i] < -87 ? 0 : std::exp(static_cast<double>(row[i]));
    ASSERT_NEAR(weights[i], expected, 1e-6 * expected) << row[i];
    expected_total += expected;
  }
  EXPECT_NEAR(total, expected_total, 1e-6 * expected_total);
  EXPECT_NEAR(exp_sum(row, 0), expected_total, 1e-6 * expected_total);
  EXPECT_NEAR(sum(weights), expected_total, 1e-6 * expected_total);
  exp_weights(row, 0, 1e30f, weights.data());
  EXPECT_EQ(weights[0], 1.0f);
  EXPECT_EQ(sum(weights), 1.0);
}

TEST(RowScan, MaxArgMaxAndTopAgreeWithSorting) {
  std::mt19937 random(1);
  for (size_t size : {1, 2, 15, 16, 17, 63, 64, 65, 130, 1000, 5000}) {
    for (int coarse : {3, 50, 1000000}) {  // few distinct values: many ties
      Logits row(size);
      for (float& x : row) x = static_cast<float>(static_cast<int>(random() % (2 * coarse + 1)) - coarse) / 7;
      std::vector<Candidate> sorted, top;
      for (size_t i = 0; i < size; ++i) sorted.push_back({static_cast<TokenId>(i), row[i]});
      std::sort(sorted.begin(), sorted.end(), before);
      EXPECT_EQ(max_of(row), sorted[0].logit);
      EXPECT_EQ(arg_max(row), sorted[0].token);
      for (size_t k :
           {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size / 64, size / 2, size - 1, size, size + 5}) {
        select_top(row, k, top);
        std::sort(top.begin(), top.end(), before);
        ASSERT_EQ(top.size(), std::min(k, size));
        for (size_t i = 0; i < top.size(); ++i) ASSERT_EQ(top[i].token, sorted[i].token) << size << " " << k;
      }
    }
  }
}

TEST(RowScan, FindsEveryNonFinite) {
  for (float bad : {NAN, -NAN, INFINITY, -INFINITY})
    for (size_t size : {1, 16, 37, 200})
      for (size_t at = 0; at < size; ++at) {
        Logits row(size, std::numeric_limits<float>::max());
        ASSERT_TRUE(all_finite(row));
        row[at] = bad;
        ASSERT_FALSE(all_finite(row));
      }
}

SampledToken sample(Logits logits, const SamplingParams& params, std::vector<TokenId> tokens = {0},
                    uint32_t prompt_size = 1, std::vector<TokenId> banned = {}) {
  Sampler sampler;
  auto result = sampler.sample(logits, {tokens, prompt_size, &params, banned});
  EXPECT_TRUE(result.has_value());
  return result.value_or(SampledToken{.token = -1});
}

// What core/sampling_params.h says, by the book: fp64, a full sort, no shortcut. No value when fp32 rounding
// may rightly decide otherwise (a filter's border or the draw within 1e-5 of a token's edge).
std::optional<TokenId> reference(const Logits& logits, const SamplingParams& p,
                                 const std::vector<TokenId>& tokens, uint32_t prompt_size,
                                 const std::vector<TokenId>& banned) {
  struct Row {
    TokenId token;
    float logit;
    double p;
  };
  std::vector<Row> rows;
  for (size_t i = 0; i < logits.size(); ++i) rows.push_back({static_cast<TokenId>(i), logits[i], 0});
  for (auto [token, bias] : p.logit_bias) rows[token].logit += bias;
  std::map<TokenId, int> all, output;
  for (size_t i = 0; i < tokens.size(); ++i) {
    ++all[tokens[i]];
    if (i >= prompt_size) ++output[tokens[i]];
  }
  for (auto [token, count] : all) {
    float& logit = rows[token].logit;
    logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
  }
  for (auto [token, count] : output)
    rows[token].logit -= p.presence_penalty + p.frequency_penalty * static_cast<float>(count);
  std::erase_if(rows,
                [&](const Row& row) { return std::count(banned.begin(), banned.end(), row.token) > 0; });
  std::sort(rows.begin(), rows.end(),
            [](auto& a, auto& b) { return a.logit != b.logit ? a.logit > b.logit : a.token < b.token; });
  if (p.greedy()) return rows[0].token;
  if (p.top_k > 0 && rows.size() > static_cast<size_t>(p.top_k)) rows.resize(p.top_k);
  double total = 0;
  for (Row& row : rows)
    total += row.p = std::exp((double{row.logit} - double{rows[0].logit}) / p.temperature);
  if (p.top_p < 1) {
    double mass = 0;
    size_t kept = 0;
    while (kept < rows.size() && (kept == 0 || mass < p.top_p * total)) {
      mass += rows[kept++].p;
      if (std::abs(mass / total - p.top_p) < 1e-5) return std::nullopt;
    }
    rows.resize(kept);
  }
  if (p.min_p > 0) {
    for (const Row& row : rows)
      if (std::abs(row.p - p.min_p) < 1e-5) return std::nullopt;
    std::erase_if(rows, [&](const Row& row) { return row.p < p.min_p; });
  }
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.token < b.token; });
  total = 0;
  for (const Row& row : rows) total += row.p;
  const double target = uniform(p.seed, tokens.size());
  double mass = 0;
  for (const Row& row : rows) {
    mass += row.p / total;
    if (std::abs(mass - target) < 1e-5) return std::nullopt;
    if (mass > target) return row.token;
  }
  return rows.back().token;
}

TEST(Sampler, AgreesWithBruteForce) {
  std::mt19937 random(7);
  const auto pick = [&](auto... values) {
    const std::common_type_t<decltype(values)...> list[] = {values...};
    return list[random() % sizeof...(values)];
  };
  int compared = 0;
  Sampler sampler;  // one for all: scratch of one call must not leak into the next
  for (int round = 0; round < 6000; ++round) {
    const size_t size = pick(2, 5, 40, 300, 3000);
    Logits logits(size);
    std::normal_distribution<float> normal(0, pick(0.1f, 1.0f, 4.0f));
    for (float& x : logits) x = normal(random);
    if (round % 3 == 0)
      for (float& x : logits) x = std::round(x);  // ties
    const auto token = [&] { return static_cast<TokenId>(random() % size); };
    std::vector<TokenId> tokens(1 + random() % 60), banned;
    for (TokenId& t : tokens) t = token();
    const auto prompt_size = static_cast<uint32_t>(1 + random() % tokens.size());
    if (round % 4 == 0) banned = {token()};
    SamplingParams p;
    p.temperature = pick(0.0f, 0.3f, 1.0f, 1.0f, 2.0f);
    p.top_k = pick(0, 0, 1, 3, 20, 500);
    p.top_p = pick(1.0f, 1.0f, 0.0f, 0.2f, 0.9f, 0.999f);
    p.min_p = pick(0.0f, 0.0f, 0.05f, 0.5f, 1.0f);
    p.presence_penalty = pick(0.0f, 0.0f, 1.5f);
    p.frequency_penalty = pick(0.0f, 0.0f, -0.7f);
    p.repetition_penalty = pick(1.0f, 1.0f, 1.3f);
    if (round % 5 == 0) p.logit_bias = {{0, 2.0f}, {1, -100.0f}};
    p.seed = random();
    const auto expected = reference(logits, p, tokens, prompt_size, banned);
    if (!expected) continue;
    const auto got = sampler.sample(logits, {tokens, prompt_size, &p, banned});
    ASSERT_TRUE(got.has_value());
    ASSERT_EQ(got->token, *expected) << "round " << round << " size " << size << " T " << p.temperature
                                     << " k " << p.top_k << " p " << p.top_p << " min_p " << p.min_p;
    ++compared;
  }
  EXPECT_GT(compared, 4000);
}

// Pearson's test; the bound is the 99.99 % quantile for the degrees of freedom (about n + 3.72 sqrt(2n) + 9).
void expect_distribution(const Logits& logits, SamplingParams params, const std::vector<double>& expected) {
  constexpr int kDraws = 40000;
  std::vector<int> hits(logits.size());
  Sampler sampler;
  std::vector<TokenId> tokens = {0};
  for (int i = 0; i < kDraws; ++i) {
    params.seed = 1000 + i;
    Logits copy = logits;
    ++hits[sampler.sample(copy, {tokens, 1, &params, {}})->token];
  }
  double chi2 = 0, freedom = -1;
  for (size_t i = 0; i < hits.size(); ++i) {
    if (expected[i] == 0) {
      ASSERT_EQ(hits[i], 0) << i;
      continue;
    }
    const double mean = expected[i] * kDraws;
    chi2 += (hits[i] - mean) * (hits[i] - mean) / mean;
    ++freedom;
  }
  EXPECT_LT(chi2, freedom + 3.72 * std::sqrt(2 * freedom) + 9);
}

TEST(Sampler, DrawsFollowTheSoftmax) {
  const Logits logits = {0, 1, 2, 3, 1.5f, -1};
  const auto softmax = [&](double temperature, std::vector<int> kept) {
    std::vector<double> p(logits.size());
    double total = 0;
    for (int i : kept) total += p[i] = std::exp(logits[i] / temperature);
    for (double& x : p) x /= total;
    return p;
  };
  expect_distribution(logits, {}, softmax(1, {0, 1, 2, 3, 4, 5}));
  expect_distribution(logits, {.temperature = 2.5f}, softmax(2.5, {0, 1, 2, 3, 4, 5}));
  expect_distribution(logits, {.top_k = 3}, softmax(1, {2, 3, 4}));
  expect_distribution(logits, {.top_p = 0.8f}, softmax(1, {2, 3, 4}));  // 0.56, 0.76, 0.89: three
  expect_distribution(logits, {.min_p = 0.2f},
                      softmax(1, {2, 3, 4}));  // e^-1, e^-1.5 are above, e^-2 is below
}

TEST(Sampler, DrawsAtSuccessivePositionsOfOneSeedAreIndependent) {
  const Logits logits(2, 0.0f);
  const SamplingParams params{.seed = 5};
  int pairs[4] = {};
  int previous = 0;
  std::vector<TokenId> tokens;
  for (int i = 0; i < 8000; ++i) {
    tokens.push_back(0);
    const int token = sample(logits, params, tokens).token;
    ++pairs[previous * 2 + token];
    previous = token;
  }
  for (int count : pairs) EXPECT_NEAR(count, 2000, 200);
}

TEST(Sampler, DependsOnSeedAndPositionOnly) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<Logits> rows(40, Logits(500));
  for (auto& row : rows)
    for (float& x : row) x = normal(random);
  const auto params = [](size_t i) {
    return SamplingParams{
        .top_k = i % 2 ? 50 : 0, .top_p = 0.95f, .presence_penalty = 0.5f, .seed = i, .logprobs = 2};
  };
  const std::vector<TokenId> tokens = {1, 2, 3, 3, 4};
  std::vector<TokenId> alone;
  for (size_t i = 0; i < rows.size(); ++i) alone.push_back(sample(rows[i], params(i), tokens, 3).token);
  Sampler shared;
  for (int order = 0; order < 3; ++order) {
    std::vector<size_t> indices(rows.size());
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = i;
    std::shuffle(indices.begin(), indices.end(), random);
    for (size_t i : indices) {
      Logits copy = rows[i];
      const auto p = params(i);
      EXPECT_EQ(shared.sample(copy, {tokens, 3, &p, {}})->token, alone[i]);
    }
  }
  int differ = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    differ += sample(rows[0], params(i * 2), tokens, 3).token != alone[0];
  EXPECT_GT(differ, 10) << "the seed matters";
}

TEST(Sampler, ExtremeParameters) {
  const Logits logits = {1, 5, 5, 4.999f, -3};
  EXPECT_EQ(sample(logits, {.temperature = 0}).token, 1) << "lowest id on ties";
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_LE(sample(logits, {.temperature = 1e-6f, .seed = seed}).token, 2);
    EXPECT_LE(sample(logits, {.temperature = 1e-45f, .seed = seed}).token, 2);
    EXPECT_EQ(sample(logits, {.top_p = 0, .seed = seed}).token, 1);
    EXPECT_EQ(sample(logits, {.top_k = 1, .seed = seed}).token, 1);
    EXPECT_LE(sample(logits, {.min_p = 1, .seed = seed}).token, 2);
    EXPECT_GE(sample(logits, {.temperature = 1e30f, .seed = seed}).token, 0);
    EXPECT_EQ(sample(logits, {.seed = seed}, {0}, 1, {0, 1, 2, 3}).token, 4);
    EXPECT_EQ(sample(logits, {.logit_bias = {{4, 1e38f}, {4, 3e38f}}, .seed = seed}).token, 4);
    EXPECT_EQ(sample(logits, {.repetition_penalty = 1e-38f, .seed = seed}, {1}).token, 1);
  }
  Sampler sampler;
  for (float temperature : {0.0f, 1.0f}) {
    Logits copy = logits;
    const std::vector<TokenId> banned = {0, 1, 2, 3, 4}, tokens = {0};
    const SamplingParams params{.temperature = temperature};
    const auto none = sampler.sample(copy, {tokens, 1, &params, banned});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::kInvalid);
    for (float bad : {NAN, INFINITY, -INFINITY}) {
      copy = logits;
      copy[3] = bad;
      const auto broken = sampler.sample(copy, {tokens, 1, &params, {}});
      ASSERT_FALSE(broken);
      EXPECT_EQ(broken.error().kind, ErrorKind::kInternal);
    }
  }
  EXPECT_EQ(sample({3.0f}, {}).token, 0) << "a vocabulary of one";
}

TEST(Sampler, LogprobsAreOfTheRawDistribution) {
  const Logits logits = {1000, 1002, 1001, 990};
  const double total = std::log(std::exp(-2.0) + 1 + std::exp(-1.0) + std::exp(-12.0));
  const SamplingParams params{.temperature = 0, .logit_bias = {{0, 50}}, .logprobs = 3};
  const SampledToken result = sample(logits, params);
  EXPECT_EQ(result.token, 0) << "bias decides";
  EXPECT_NEAR(result.logprob, -2 - total, 1e-5) << "but does not show";
  ASSERT_EQ(result.top.size(), 3u);
  const TokenId order[] = {1, 2, 0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(result.top[i].token, order[i]);
    EXPECT_NEAR(result.top[i].logprob, logits[order[i]] - 1002 - total, 1e-5);
  }
  EXPECT_TRUE(sample(logits, {.logprobs = 0}).top.empty());
  EXPECT_EQ(sample(logits, {.logprobs = 20}).top.size(), 4u) << "no more than there are";
}

TEST(Sampler, AScoreIsTheLogprobOfADraw) {
  Logits row(300);
  std::mt19937 random(3);
  for (float& logit : row) logit = std::uniform_real_distribution<float>(-5, 5)(random);
  const SampledToken drawn = sample(row, {.temperature = 0, .logprobs = 4});
  Sampler sampler;
  const auto score = sampler.score(row, drawn.token, 4);
  ASSERT_TRUE(score.has_value());
  EXPECT_EQ(score->logprob, drawn.logprob);
  ASSERT_EQ(score->top.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(score->top[i].token, drawn.top[i].token);
    EXPECT_EQ(score->top[i].logprob, drawn.top[i].logprob);
  }
  double total = 0;
  for (TokenId token = 0; token < 300; ++token) total += std::exp(sampler.score(row, token, 0)->logprob);
  EXPECT_NEAR(total, 1, 1e-5);
  row[7] = NAN;
  EXPECT_FALSE(sampler.score(row, 3, 0).has_value());
}

}  // namespace
}  // namespace reprise
