#include "api/prompt_echo.h"

#include <gmock/gmock.h>

#include "api/testing/fake_model.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;

// Bytes are tokens; "<...>" are hidden ones.
struct Pieces {
  Pieces(std::vector<std::string> pieces) : tokenizer(pieces), size(pieces.size()) {}
  TokenId operator()(size_t i) const { return static_cast<TokenId>(tokenizer.size() - size + i); }
  FakeTokenizer tokenizer;
  size_t size;
};

TEST(PromptEcho, CountsCompleteCharactersBeforeEachToken) {
  const FakeTokenizer tokenizer;
  const auto tokens = tokenizer.encode("héy", {.add_bos_eos = true});
  const PromptEcho echo = make_echo("héy", tokens, tokenizer);
  EXPECT_THAT(echo.offsets, ElementsAre(0, 0, 1, 1, 2)) << "a begin token, and a character of two tokens";
  EXPECT_EQ(echo.characters, 3u);
  EXPECT_EQ(echo.first, FakeTokenizer::kStart);
}

TEST(PromptEcho, BrokenBytesAreAReplacementCharacterEach) {
  const FakeTokenizer tokenizer;
  const std::vector<TokenId> tokens = {0x80, 'a', 0xff, 'b'};
  EXPECT_THAT(make_echo("\uFFFDa\uFFFDb", tokens, tokenizer).offsets, ElementsAre(0, 1, 2, 3));
}

TEST(PromptEcho, ASpaceThatTheVocabularyAddedIsNoPartOfTheText) {
  const Pieces p({" foo", " bar"});
  const std::vector<TokenId> tokens = {p(0), p(1)};
  EXPECT_THAT(make_echo("foo bar", tokens, p.tokenizer).offsets, ElementsAre(0, 3));
}

TEST(PromptEcho, WhatTheVocabularyDoesNotKnowIsSkipped) {
  const Pieces p({"<unk>", " foo", " bar"});
  const std::vector<TokenId> tokens = {'x', p(0), p(1), p(2)};
  EXPECT_THAT(make_echo("x☃ foo bar", tokens, p.tokenizer).offsets, ElementsAre(0, 1, 2, 6));
}

TEST(PromptEcho, NormalisedTextIsFoundAgain) {
  const Pieces p({"caf\u00e9", " bar", "!"});
  const std::vector<TokenId> tokens = {p(0), p(1), p(2)};
  EXPECT_THAT(make_echo("cafe\u0301 bar!", tokens, p.tokenizer).offsets, ElementsAre(0, 5, 9));
}

TEST(PromptEcho, TokensPastTheTextBeginAtItsEnd) {  // what fills in the middle
  const Pieces p({"<fim_prefix>", "<fim_suffix>", "z", "<fim_middle>"});
  const std::vector<TokenId> tokens = {p(0), 'x', p(1), p(2), p(3)};
  EXPECT_THAT(make_echo("x", tokens, p.tokenizer).offsets, ElementsAre(0, 0, 1, 1, 1));
}

}  // namespace
}  // namespace reprise::testing
