#include "api/choice.h"

#include <random>

#include <gtest/gtest.h>

#include "api/testing/fake_model.h"
#include "api/token_text.h"

namespace reprise {
namespace {

using testing::FakeTokenizer;

Tokens event_of(const std::vector<TokenId>& ids) {
  Tokens event;
  for (TokenId id : ids) event.tokens.push_back({id, -1.0f, {}});
  return event;
}
Finished finished_with(FinishReason reason, uint32_t output_tokens) {
  Finished finished;
  finished.reason = reason;
  finished.output_tokens = output_tokens;
  return finished;
}

struct Outcome {
  std::string text;
  std::string reason;
  uint32_t tokens = 0;
};
// Feeds the ids in events of `step` tokens.
Outcome run(const FakeTokenizer& tokenizer, const std::vector<TokenId>& ids, ChoiceOptions options,
            size_t step) {
  Choice choice(tokenizer, std::move(options), 1);
  Outcome outcome;
  choice.start(Started{0}, 2);
  for (size_t i = 0; i < ids.size() && !choice.done(); i += step) {
    outcome.text +=
        choice.add(event_of({ids.begin() + i, ids.begin() + std::min(i + step, ids.size())}), 3).text;
  }
  if (!choice.done()) {
    outcome.text +=
        choice.finish(finished_with(FinishReason::kLength, static_cast<uint32_t>(ids.size())), 4).text;
  }
  outcome.reason = choice.finish_reason();
  outcome.tokens = choice.output_tokens();
  return outcome;
}

TEST(Choice, JoinsTextForAnyCutIntoTokensAndEvents) {
  std::mt19937 random(1);
  const std::string text =
      "na\u00efve \u65e5\u672c\u8a9e \U0001F600\U0001F680 stop STOP here \xff broken \xe2\x82 end";
  const std::vector<std::vector<std::string>> stop_sets = {
      {}, {"STOP"}, {"here", "STOP h"}, {"\U0001F680"}, {"never"}, {"\uFFFD"}, {"d"}, {" ", "x"}};
  for (int round = 0; round < 400; ++round) {
    // Tokens: the text cut at random bytes, also inside characters.
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      size_t length = std::min<size_t>(1 + random() % 7, text.size() - at);
      pieces.push_back(text.substr(at, length));
      at += length;
    }
    FakeTokenizer tokenizer(pieces);
    std::vector<TokenId> ids;
    for (size_t i = 0; i < pieces.size(); ++i)
      ids.push_back(FakeTokenizer::kFirstPiece + static_cast<TokenId>(i));

    const auto& stops = stop_sets[random() % stop_sets.size()];
    std::string expected = to_valid_utf8(text);
    size_t cut = std::string::npos,
           end = std::string::npos;  // the match that ends first; of those, the longest
    for (const std::string& stop : stops) {
      size_t at = expected.find(stop);
      if (at == std::string::npos) continue;
      if (at + stop.size() < end || (at + stop.size() == end && at < cut)) {
        cut = at;
        end = at + stop.size();
      }
    }
    Outcome outcome = run(tokenizer, ids, {stops, false, 0}, 1 + random() % 4);
    EXPECT_EQ(outcome.text, expected.substr(0, cut));
    EXPECT_EQ(outcome.reason, cut == std::string::npos ? "length" : "stop");
    Outcome with_stop = run(tokenizer, ids, {stops, true, 0}, 1 + random() % 4);
    EXPECT_EQ(with_stop.text, expected.substr(0, end));
  }
}

TEST(Choice, CountsTokensUpToTheOneThatCompletesTheStop) {
  FakeTokenizer tokenizer;
  Outcome outcome = run(tokenizer, tokenizer.encode("abcXYdef"), {{"XY"}, false, 0}, 8);
  EXPECT_EQ(outcome.text, "abc");
  EXPECT_EQ(outcome.tokens, 5u) << "what came in the same event after the stop string is dropped";
}

TEST(Choice, StopStringsWithinMinTokensDoNotCount) {
  FakeTokenizer tokenizer;
  Outcome outcome = run(tokenizer, tokenizer.encode("aXbXc"), {{"X"}, false, 3}, 1);
  EXPECT_EQ(outcome.text, "aXb");
  EXPECT_EQ(outcome.reason, "stop");
}

TEST(Choice, ControlTokensAreNotShown) {
  FakeTokenizer tokenizer;
  Outcome outcome = run(tokenizer, {'a', FakeTokenizer::kStart, 'b'}, {}, 1);
  EXPECT_EQ(outcome.text, "ab");
  EXPECT_EQ(outcome.tokens, 3u);
}

TEST(Choice, OffsetsCountCharactersBeforeEachToken) {
  FakeTokenizer tokenizer({"\u00e9", "\xe2\x82", "\xac", "z"});
  Choice choice(tokenizer, {}, 1);
  Piece piece = choice.add(event_of({258, 259, 260, 261}), 2);
  EXPECT_EQ(piece.text, "\u00e9\u20acz");
  EXPECT_EQ(piece.offsets, (std::vector<uint32_t>{0, 1, 1, 2}));
}

TEST(Choice, TakesTheEnginesTimesOrItsOwnWhenAStopStringEndsIt) {
  FakeTokenizer tokenizer;
  Choice natural(tokenizer, {}, 100);
  natural.start(Started{5}, 110);
  natural.add(event_of({'a'}), 130);
  EXPECT_EQ(natural.last_gap(), std::nullopt);
  natural.add(event_of({'a'}), 160);
  EXPECT_EQ(natural.last_gap(), 30);
  Finished finished = finished_with(FinishReason::kStop, 3);
  finished.queued = 1;
  finished.prefill = 2;
  finished.decode = 3;
  finished.cached_tokens = 5;
  natural.finish(finished, 170);
  EXPECT_EQ(natural.finish_reason(), "stop");
  EXPECT_EQ(natural.output_tokens(), 3u) << "the stop token counts";
  EXPECT_EQ(natural.times().decode, 3);

  Choice stopped(tokenizer, {{"b"}, false, 0}, 100);
  stopped.start(Started{5}, 110);
  stopped.add(event_of({'a'}), 130);
  stopped.add(event_of({'b'}), 170);
  ASSERT_TRUE(stopped.done());
  EXPECT_EQ(stopped.stop_string(), "b");
  EXPECT_EQ(stopped.times().queued, 10);
  EXPECT_EQ(stopped.times().prefill, 20);
  EXPECT_EQ(stopped.times().decode, 40);
}

}  // namespace
}  // namespace reprise
