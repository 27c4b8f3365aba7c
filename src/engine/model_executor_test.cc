#include "engine/model_executor.h"

#include <numeric>

#include <gtest/gtest.h>

#include "engine/testing/hash_model.h"

namespace reprise {
namespace {
using testing::ForwardCall;
using testing::HashModel;
using testing::HashModelOptions;

constexpr uint32_t kLayers = 4, kPages = 12, kPageTokens = 16;

class ModelExecutorTest : public ::testing::Test {
 protected:
  ModelExecutorTest()
      : pool(2, /*pin=*/false),
        executor(std::make_unique<HashModel>(HashModelOptions{.layers = kLayers, .poison = 96}, &calls), pool,
                 kPages) {}

  // A sequence of `size` made-up tokens whose page table starts at page `first`.
  struct Sequence {
    RequestId id;
    std::vector<TokenId> tokens;
    std::vector<PageId> pages;
  };
  static Sequence sequence(RequestId id, size_t size, PageId first) {
    Sequence s{id, {}, {}};
    for (size_t i = 0; i < size; ++i) s.tokens.push_back(static_cast<TokenId>((id * 31 + i * 7) % 90));
    s.pages.resize(size / kPageTokens + 1);
    std::iota(s.pages.begin(), s.pages.end(), first);
    return s;
  }
  BatchItem item(const Sequence& s, uint32_t begin, uint32_t end, uint32_t layer_begin = 0,
                 uint32_t layer_end = kLayers) {
    BatchItem item{
        .sequence = s.id, .tokens = s.tokens, .prompt_size = static_cast<uint32_t>(s.tokens.size())};
    item.begin = begin;
    item.end = end;
    item.layer_begin = layer_begin;
    item.layer_end = layer_end;
    item.pages[0] = s.pages;
    item.sample = layer_end == kLayers && end == s.tokens.size();
    item.sampling = &greedy;
    return item;
  }
  StepResult run(Batch batch) { return executor.wait(executor.launch(batch)); }
  StepResult run(std::vector<BatchItem> items) { return run(Batch{{}, {}, std::move(items)}); }
  static TokenId only(const StepResult& result, size_t i = 0) {
    EXPECT_TRUE(result.items[i].has_value());
    EXPECT_EQ(result.items[i]->size(), 1u);
    return result.items[i]->empty() ? -1 : result.items[i]->front().token;
  }
  // What the model says of this sequence, computed alone and whole.
  TokenId expected(const Sequence& s) {
    std::vector<ForwardCall> ignored;
    ModelExecutor alone(std::make_unique<HashModel>(HashModelOptions{.layers = kLayers}, &ignored), pool,
                        kPages);
    Sequence moved = s;
    std::iota(moved.pages.begin(), moved.pages.end(), 0);
    Batch batch{{}, {}, {item(moved, 0, s.tokens.size())}};
    return only(alone.wait(alone.launch(batch)));
  }

  SamplingParams greedy{.temperature = 0};
  TaskPool pool;
  std::vector<ForwardCall> calls;
  ModelExecutor executor;
};

TEST_F(ModelExecutorTest, ChunksOfAnySizeGiveTheSameToken) {
  const Sequence s = sequence(1, 50, 3);
  const TokenId token = expected(s);
  for (uint32_t chunk : {1, 7, 16, 49, 50}) {
    TokenId last = -1;
    for (uint32_t begin = 0; begin < 50; begin += chunk) {
      const auto result = run({item(s, begin, std::min(50u, begin + chunk))});
      EXPECT_GT(result.elapsed, 0);
      if (begin + chunk >= 50) {
        last = only(result);
      } else {
        EXPECT_TRUE(result.items[0]->empty()) << "nothing was to be sampled";
      }
    }
    EXPECT_EQ(last, token) << chunk;
  }
}

TEST_F(ModelExecutorTest, OneForwardPassForEqualLayerRanges) {
  const Sequence a = sequence(1, 20, 0), b = sequence(2, 40, 2), c = sequence(3, 30, 5);
  run({item(a, 0, 19), item(b, 0, 10)});
  run({item(c, 0, 30, 0, 2)});
  calls.clear();
  const auto result = run({item(a, 19, 20), item(c, 0, 30, 2, 4), item(b, 10, 40)});
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].sequences, (std::vector<std::pair<uint32_t, size_t>>{{19, 1}, {10, 30}}));
  EXPECT_EQ(calls[1].layer_begin, 2u);
  EXPECT_EQ(only(result, 0), expected(a));
  EXPECT_EQ(only(result, 1), expected(c));
  EXPECT_EQ(only(result, 2), expected(b));
  EXPECT_EQ(executor.chunks_in_flight(), 0u);
}

TEST_F(ModelExecutorTest, SlicedChunksMayBeJoinedAndParted) {
  const Sequence a = sequence(1, 20, 0), b = sequence(2, 33, 2), c = sequence(3, 9, 5);
  run({item(a, 0, 20, 0, 1), item(b, 0, 33, 0, 1), item(c, 0, 9, 0, 1)});  // together
  EXPECT_EQ(executor.chunks_in_flight(), 3u);
  run({item(b, 0, 33, 1, 2)});                       // one alone
  run({item(c, 0, 9, 1, 2), item(a, 0, 20, 1, 3)});  // different ranges
  calls.clear();
  auto result = run({item(c, 0, 9, 2, 4), item(b, 0, 33, 2, 4)});  // others together, in another order
  EXPECT_EQ(calls.size(), 1u);
  EXPECT_EQ(only(result, 0), expected(c));
  EXPECT_EQ(only(result, 1), expected(b));
  result = run({item(a, 0, 20, 3, 4)});
  EXPECT_EQ(only(result), expected(a));
  EXPECT_EQ(executor.chunks_in_flight(), 0u);
}

TEST_F(ModelExecutorTest, AbandonedChunksAreForgotten) {
  const Sequence a = sequence(1, 20, 0);
  run({item(a, 0, 20, 0, 2)});
  EXPECT_EQ(executor.chunks_in_flight(), 1u);
  run(Batch{{}, {1, 77}, {}});
  EXPECT_EQ(executor.chunks_in_flight(), 0u);
  run({item(a, 0, 10, 0, 2)});  // begins anew, with another range
  run({item(a, 0, 10, 2, 4)});
  EXPECT_EQ(only(run({item(a, 10, 20)})), expected(a));
}

TEST_F(ModelExecutorTest, CopiesComeBeforeTheItems) {
  Sequence a = sequence(1, 24, 0);
  run({item(a, 0, 24)});
  Sequence fork = a;  // shares page 0; page 1, half filled, is copied before it is written on
  fork.id = 2;
  fork.pages = {0, 7};
  fork.tokens[23] = 5;
  const auto result = run(Batch{{{0, 1, 7}}, {}, {item(fork, 23, 24), item(a, 23, 24)}});
  EXPECT_EQ(only(result, 0), expected(fork));
  EXPECT_EQ(only(result, 1), expected(a)) << "the original is untouched";
}

TEST_F(ModelExecutorTest, AnErrorConcernsItsItemOnly) {
  const Sequence a = sequence(1, 20, 0), b = sequence(2, 20, 2), c = sequence(3, 20, 4);
  Sequence poisoned = b;
  poisoned.tokens.back() = 96;
  std::vector<TokenId> all(97);
  std::iota(all.begin(), all.end(), 0);
  BatchItem banned = item(c, 0, 20);
  banned.banned = all;
  const auto result = run({item(a, 0, 20), item(poisoned, 0, 20), banned});
  EXPECT_EQ(only(result, 0), expected(a));
  ASSERT_FALSE(result.items[1]);
  EXPECT_EQ(result.items[1].error().kind, ErrorKind::kInternal);
  EXPECT_FALSE(result.items[2]);
}

using ModelExecutorDeathTest = ModelExecutorTest;
TEST_F(ModelExecutorDeathTest, BrokenPromisesAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Sequence a = sequence(1, 20, 0), beyond = sequence(2, 20, kPages - 1);
  EXPECT_DEATH(run({item(beyond, 0, 20)}), "page 12 of 12");
  EXPECT_DEATH(run({item(a, 0, 20, 2, 4)}), "has no rows at layer 2");
}

// Every row's score is that of the prefix alone, also where a chunk's rows pass the head in several blocks
// and beside items that want none.
TEST_F(ModelExecutorTest, ScoresAreThoseOfEachPrefixAlone) {
  const Sequence s = sequence(1, 150, 0), other = sequence(2, 20, 10);
  BatchItem scored = item(s, 0, 150);
  scored.score_begin = 5;
  scored.score_end = 149;
  scored.score_top = 2;
  const StepResult result = run({item(other, 0, 20), scored});
  ASSERT_EQ(result.scored.size(), 2u);
  EXPECT_TRUE(result.scored[0].empty());
  ASSERT_EQ(result.scored[1].size(), 144u);
  EXPECT_EQ(only(result, 1), expected(s)) << "and the next token is drawn as ever";
  for (size_t i = 0; i < 144; ++i) {
    const SampledToken& score = result.scored[1][i];
    EXPECT_EQ(score.token, s.tokens[5 + i + 1]);
    Sequence prefix = s;
    prefix.tokens.resize(5 + i + 1);
    ASSERT_EQ(score.top.size(), 2u);
    EXPECT_EQ(score.top[0].token, expected(prefix)) << "the likeliest after " << prefix.tokens.size();
    EXPECT_LE(score.logprob, score.top[0].logprob);
  }
}

TEST_F(ModelExecutorTest, AScoreThatIsNotANumberFailsItsSequenceAlone) {
  Sequence bad = sequence(1, 40, 0);
  bad.tokens[20] = 96;  // poison
  const Sequence good = sequence(2, 40, 4);
  BatchItem first = item(bad, 0, 40), second = item(good, 0, 40);
  first.score_end = second.score_end = 39;
  const StepResult result = run({first, second});
  EXPECT_FALSE(result.items[0].has_value());
  EXPECT_EQ(only(result, 1), expected(good));
  EXPECT_EQ(result.scored[1].size(), 39u);
}

}  // namespace
}  // namespace reprise
