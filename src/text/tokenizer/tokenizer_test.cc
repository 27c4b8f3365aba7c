#include "text/tokenizer/tokenizer.h"

#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/pretokenizer_table.h"
#include "text/tokenizer/small_vocabulary_for_test.h"
#include "text/tokenizer/vocabulary_for_test.h"
#include "text/utf8.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<Tokenizer> make(const Vocabulary& vocabulary) {
  auto made = Tokenizer::create(vocabulary);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

std::vector<std::string> texts_of(std::string file) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  size_t from = 0;
  for (size_t at; (at = file.find(separator, from)) != std::string::npos; from = at + separator.size()) {
    texts.push_back(file.substr(from, at - from));
  }
  return texts;  // a separator ends the last one too
}

std::vector<std::vector<TokenId>> ids_of(const std::string& file) {
  std::vector<std::vector<TokenId>> lines;
  std::istringstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream numbers(line);
    lines.emplace_back();
    for (TokenId id; numbers >> id;) lines.back().push_back(id);
  }
  return lines;
}

const std::string kShared = REPRISE_ROOT "/../shared/tokenizers/";

void expect_conformance(const Tokenizer& tokenizer, const std::string& inputs, const std::string& outputs) {
  const auto texts = texts_of(file_bytes(inputs));
  const auto expected = ids_of(file_bytes(outputs));
  ASSERT_EQ(texts.size(), expected.size());
  ASSERT_GT(texts.size(), 40u);
  for (int round = 0; round < 2; ++round) {  // cold, then from the cache
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(tokenizer.encode(texts[i], {.parse_special = false}), expected[i])
          << "text " << i << ": " << texts[i];
      EXPECT_EQ(tokenizer.decode(expected[i]), texts[i]);
    }
  }
}

class Conformance : public testing::TestWithParam<const char*> {};

TEST_P(Conformance, EncodesAsTheModelsOwnTokenizerDoes) {
  const auto tokenizer = make(packed_vocabulary(kShared + GetParam() + ".gguf.zst"));
  ASSERT_NE(tokenizer, nullptr);
  expect_conformance(*tokenizer, kShared + GetParam() + ".inp", kShared + GetParam() + ".out");
}
INSTANTIATE_TEST_SUITE_P(Vocabularies, Conformance,
                         testing::Values("llama-bpe", "deepseek-coder", "deepseek-llm", "gpt-2", "qwen2"));

// The default model's vocabulary is in its GGUF file, which `./dev` downloads; the expected ids are Hugging
// Face's.
TEST(SmolLM2, EncodesAsHuggingFaceDoes) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path folder =
      (cache != nullptr ? std::filesystem::path(cache)
                        : std::filesystem::path(home != nullptr ? home : "") / ".cache") /
      "reprise" / "models";
  const auto model = folder / "SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "no default model at " << model << "; run ./dev test";
  std::ifstream in(model, std::ios::binary);
  std::string head(8 << 20, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto tokenizer = make(GgufVocabularyReader(std::move(head)).read());
  ASSERT_NE(tokenizer, nullptr);
  expect_conformance(*tokenizer, kShared + "gpt-2.inp",
                     REPRISE_ROOT "/src/text/tokenizer/smollm2_ids_for_test.txt");
}

class Small : public testing::Test {
 protected:
  void SetUp() override { tokenizer_ = make(vocabulary_); }
  // The tokens' bytes, separated by |.
  std::string shown(const std::vector<TokenId>& ids) const {
    std::string text;
    for (const TokenId id : ids) text.append(text.empty() ? "" : "|").append(tokenizer_->bytes(id));
    return text;
  }
  Vocabulary vocabulary_ = small_vocabulary("gpt-2");
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(Small, MergesBestRankFirstAndLeftmost) {
  EXPECT_EQ(shown(tokenizer_->encode("abc")), "abc");
  EXPECT_EQ(shown(tokenizer_->encode("aabcb")), "a|abc|b");
  EXPECT_EQ(shown(tokenizer_->encode("aaaaa")), "aaaa|a");
  EXPECT_EQ(shown(tokenizer_->encode("x ab")), "x| ab");
}

TEST_F(Small, TakesTheLongestOfTheSpecialTokensThatStartFirst) {
  EXPECT_EQ(shown(tokenizer_->encode("a<tool><more><s>b<tool><")), "a|<tool><more>|<s>|b|<tool>|<");
  EXPECT_EQ(tokenizer_->encode("<s>"), std::vector{*vocabulary_.bos});
}

TEST_F(Small, LeavesControlTokensAsTextButTakesAddedOnesWhenNotParsing) {
  const EncodeOptions plain{.parse_special = false};
  EXPECT_EQ(shown(tokenizer_->encode("<s>a<tool>", plain)), "<|s|>|a|<tool>");
  EXPECT_EQ(tokenizer_->decode(tokenizer_->encode("<s>a<tool></s>", plain)), "<s>a<tool></s>");
}

TEST_F(Small, TakesControlTokensFromTheGivenSpansOnly) {
  const std::string text = "<s>a<s>b</s>";
  const auto with = [&](std::vector<TextSpan> spans) {
    return shown(tokenizer_->encode(text, {.control_spans = spans}));
  };
  EXPECT_EQ(with({{0, text.size()}}), "<s>|a|<s>|b|</s>");
  EXPECT_EQ(with({{0, 3}, {8, 12}}), "<s>|a|<|s|>|b|</s>");
  EXPECT_EQ(with({{0, 2}, {2, 3}}), "<s>|a|<|s|>|b|<|/|s|>") << "spans that touch are one";
  EXPECT_EQ(with({{0, 2}}), "<|s|>|a|<|s|>|b|<|/|s|>") << "a token must lie within";
  EXPECT_EQ(with({{1, 3}, {5, 12}}), "<|s|>|a|<|s|>|b|</s>");
  EXPECT_EQ(with({}), "<|s|>|a|<|s|>|b|<|/|s|>");
  // The text is encoded as one: a user's newline joins the template's.
  EXPECT_EQ(tokenizer_->encode("\r\n<tool>", {.control_spans = std::vector<TextSpan>{{0, 1}}}),
            tokenizer_->encode("\r\n<tool>"));
}

// User text hides a longer control token behind a word of the vocabulary that starts at the same place.
TEST_F(Small, FindsTheWordInsideARefusedControlToken) {
  vocabulary_.tokens.push_back("<tool><secret>");
  vocabulary_.types.push_back(TokenType::kControl);
  const auto tokenizer = make(vocabulary_);
  const std::vector<TextSpan> none;
  EXPECT_EQ(shown(tokenizer->encode("<tool><secret>", {.control_spans = none})).substr(0, 7), "<tool>|");
  EXPECT_EQ(tokenizer->encode("<tool><secret>").size(), 1u);
}

// Tokens that a file calls user-defined but that shape the conversation: shown, yet never the user's.
TEST_F(Small, TakesNoTokenOfTheChatTemplateFromElsewhere) {
  vocabulary_.tokens.push_back("<|user|>");
  vocabulary_.types.push_back(TokenType::kUserDefined);
  vocabulary_.chat_template = "{{ '<tool>' + tool }}";
  const auto tokenizer = make(vocabulary_);
  const std::vector<TextSpan> none;
  EXPECT_EQ(tokenizer->encode("<|user|><tool>").size(), 2u);
  EXPECT_EQ(tokenizer->encode("<|user|><tool>", {.control_spans = none}).size(), 14u);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("<|user|><tool>")), "<|user|><tool>");
}

TEST_F(Small, AddsBosAndEosOnlyWhenAskedAndWhenTheVocabularySaysSo) {
  const EncodeOptions add{.add_bos_eos = true};
  EXPECT_EQ(shown(tokenizer_->encode("ab", add)), "<s>|ab|</s>");
  EXPECT_EQ(shown(tokenizer_->encode("", add)), "<s>|</s>");
  EXPECT_THAT(tokenizer_->encode(""), IsEmpty());
  vocabulary_.add_bos = false;
  EXPECT_EQ(shown(make(vocabulary_)->encode("ab", add)), "ab|</s>");
}

TEST_F(Small, DecodesWithoutControlTokensUnlessAsked) {
  const auto ids = tokenizer_->encode("<s>ab<tool></s>");
  EXPECT_EQ(tokenizer_->decode(ids), "ab<tool>");
  EXPECT_EQ(tokenizer_->decode(ids, true), "<s>ab<tool></s>");
  EXPECT_TRUE(tokenizer_->is_hidden(*vocabulary_.eos));
  EXPECT_FALSE(tokenizer_->is_hidden(0));
}

TEST_F(Small, GivesNothingForIdsOutOfRange) {
  const TokenId size = static_cast<TokenId>(tokenizer_->size());
  for (const TokenId id : {-1, size, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(tokenizer_->bytes(id), "");
    EXPECT_FALSE(tokenizer_->is_hidden(id));
  }
}

TEST_F(Small, LeavesOutBytesWithoutToken) {
  vocabulary_.tokens['z'] = "Z~unreachable";
  const auto tokenizer = make(vocabulary_);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("azbz z")), "ab ");
}

TEST_F(Small, KeepsEveryByteOfAnyText) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const size_t length = random() % 200;
    while (text.size() < length)
      text += static_cast<char>(random() % 4 == 0 ? random() % 256 : "ab c1\r\n<\xE4\xB8\xF0"[random() % 11]);
    EXPECT_EQ(tokenizer_->decode(tokenizer_->encode(text, {.parse_special = false})), text);
  }
}

// A quadratic merge would take hours.
TEST_F(Small, MergesAMegabyteOfOneCharacter) {
  const std::string text(1 << 20, 'a');
  const auto ids = tokenizer_->encode(text);
  EXPECT_EQ(ids.size(), text.size() / 4);
  EXPECT_EQ(tokenizer_->decode(ids), text);
  for (const char* pre : {"smollm", "llama-bpe", "qwen2", "deepseek-coder", "deepseek-llm", "deepseek-v3"}) {
    vocabulary_.pre = pre;
    const auto other = make(vocabulary_);
    for (const char c : {'a', ' ', '\n', '1', '!', '\'', '\xE4', '\x80'}) {
      const std::string run(1 << 17, c);
      // What normalizes sees UTF-8 only.
      EXPECT_EQ(other->decode(other->encode(run)), wants_nfc(pre) ? as_utf8(run) : run) << pre << " " << c;
    }
  }
}

TEST_F(Small, IgnoresMergesWhereThePretokenizerSaysSo) {
  vocabulary_.tokens.push_back("abab");  // no merge leads to it
  vocabulary_.types.push_back(TokenType::kNormal);
  EXPECT_EQ(shown(make(vocabulary_)->encode("abab")), "ab|ab");
  vocabulary_.pre = "llama-bpe";
  const auto ignoring = make(vocabulary_);
  EXPECT_THAT(ignoring->encode("abab"), ElementsAre(static_cast<TokenId>(vocabulary_.tokens.size() - 1)));
  EXPECT_EQ(ignoring->encode("ababx").size(), 3u);
}

TEST_F(Small, ComposesCharactersWhereTheModelsTokenizerDoes) {
  const std::string apart = "ab e\u0301 <a> \u1100\u1161", composed = "ab \u00e9 <a> \uac00";
  const std::pair<const char*, bool> kPre[] = {{"qwen2", true},   {"qwen35", true},      {"olmo", true},
                                               {"mpt", true},     {"gpt-2", false},      {"llama-bpe", false},
                                               {"smollm", false}, {"deepseek-v3", false}};
  for (const auto& [pre, composes] : kPre) {
    vocabulary_.pre = pre;
    const auto tokenizer = make(vocabulary_);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(apart)), composes ? composed : apart) << pre;
    EXPECT_EQ(tokenizer->encode(composed), make(small_vocabulary("gpt-2"))->encode(composed)) << pre;
  }
}

TEST_F(Small, GivesEveryThreadTheSameTokens) {
  std::mt19937 random(2);
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int w = 0; w < 200; ++w) {
      text += ' ';
      for (size_t n = 1 + random() % 12; n > 0; --n) text += static_cast<char>('a' + random() % 3);
    }
    texts.push_back(text);
  }
  std::vector<std::vector<TokenId>> expected;
  for (const std::string& text : texts) expected.push_back(make(vocabulary_)->encode(text));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < texts.size(); ++i) {
          const size_t which = (i * 7 + static_cast<size_t>(t) * 50) % texts.size();
          if (tokenizer_->encode(texts[which]) != expected[which]) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Small, KnowsItsEnds) {
  EXPECT_EQ(tokenizer_->bos(), vocabulary_.bos);
  EXPECT_EQ(tokenizer_->eos(), vocabulary_.eos);
}

class Broken : public testing::Test {
 protected:
  void expect_error(ErrorKind kind, const std::string& message) {
    const auto made = Tokenizer::create(vocabulary_);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, kind);
    EXPECT_THAT(made.error().message, HasSubstr(message));
  }
  Vocabulary vocabulary_ = small_vocabulary("gpt-2");
};

TEST_F(Broken, NamesAnUnknownModel) {
  vocabulary_.model = "rwkv";
  expect_error(ErrorKind::kUnsupported, "\"rwkv\"");
}
TEST_F(Broken, NamesAnUnknownPretokenizer) {
  vocabulary_.pre = "klingon";
  expect_error(ErrorKind::kUnsupported, "\"klingon\"");
}
TEST_F(Broken, RefusesNoTokens) {
  vocabulary_.tokens.clear();
  vocabulary_.types.clear();
  expect_error(ErrorKind::kInvalid, "0 tokens");
}
TEST_F(Broken, RefusesTypesThatDoNotFit) {
  vocabulary_.types.pop_back();
  expect_error(ErrorKind::kInvalid, "token types");
}
TEST_F(Broken, RefusesMergesOfUnknownTokens) {
  vocabulary_.merges.push_back("ab ab");
  expect_error(ErrorKind::kInvalid, "merge 13");
  vocabulary_.merges.back() = "abab";
  expect_error(ErrorKind::kInvalid, "merge 13");
  vocabulary_.merges.back() = "";
  expect_error(ErrorKind::kInvalid, "merge 13");
}
TEST_F(Broken, RefusesABosThatIsNoToken) {
  vocabulary_.bos = static_cast<TokenId>(vocabulary_.tokens.size());
  expect_error(ErrorKind::kInvalid, "bos");
  vocabulary_.bos = -2;
  expect_error(ErrorKind::kInvalid, "bos");
}

}  // namespace
}  // namespace reprise
