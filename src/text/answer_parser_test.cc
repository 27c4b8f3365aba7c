#include "text/answer_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/small_vocabulary_for_test.h"

namespace reprise {
namespace {
namespace json = boost::json;
using ::testing::HasSubstr;

// Bytes, and the markup of Qwen3 as tokens but for </tool_call>.
std::unique_ptr<Tokenizer> make_tokenizer() {
  Vocabulary vocabulary = small_vocabulary("gpt-2");
  for (const char* text : {"<think>", "</think>", "<tool_call>"}) {
    vocabulary.tokens.push_back(text);
    vocabulary.types.push_back(TokenType::kUserDefined);
  }
  vocabulary.tokens.push_back("<|hidden|>");
  vocabulary.types.push_back(TokenType::kControl);
  vocabulary.chat_template = "<think></think><tool_call>\n{\"name\"";
  vocabulary.add_bos = vocabulary.add_eos = false;
  auto made = Tokenizer::create(vocabulary);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

class AnswerParserTest : public ::testing::Test {
 protected:
  std::unique_ptr<Tokenizer> tokenizer_ = make_tokenizer();
  Tools tools_{json::parse(R"([{"type": "function", "function": {"name": "now"}}])").as_array()};
  Tools none_;
  AnswerStyle style_ = *AnswerStyle::create("hermes", "", *tokenizer_);

  // Text as its tokens; of "«x»" each byte is a token, whatever it spells.
  std::vector<TokenId> tokens(std::string_view text) {
    std::vector<TokenId> ids;
    while (!text.empty()) {
      const size_t open = text.find("«");
      for (TokenId id : tokenizer_->encode(text.substr(0, open))) ids.push_back(id);
      if (open == text.npos) break;
      text.remove_prefix(open + 2);
      const size_t close = text.find("»");
      for (char c : text.substr(0, close)) ids.push_back(static_cast<TokenId>(static_cast<unsigned char>(c)));
      text.remove_prefix(close + 2);
    }
    return ids;
  }
  std::string parsed(std::string_view text, const Tools& tools, bool in_reasoning = false,
                     bool stopped = true) {
    AnswerParser parser(style_, *tokenizer_, tools, in_reasoning);
    std::string shown;
    std::optional<AnswerDelta::Kind> last;
    const auto show = [&](const std::vector<AnswerDelta>& deltas) {
      for (const AnswerDelta& delta : deltas) {
        constexpr const char* kNames[] = {"R:", "C:", "F:", "A:", ";"};
        if (delta.kind != last) shown += kNames[static_cast<int>(delta.kind)];
        last = delta.kind;
        shown += delta.text;
      }
    };
    for (TokenId token : tokens(text)) show(parser.push(token));
    show(parser.finish(stopped));
    return shown;
  }
};

TEST_F(AnswerParserTest, FindsWhatTheVocabularyHasTokensForByToken) {
  EXPECT_EQ(
      parsed("<think>Hm.</think>I look.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
             tools_),
      "R:Hm.C:I look.F:nowA:{};");
  // Spelled by other tokens it is text.
  EXPECT_EQ(parsed("See «<tool_call>»{}«</think>».", tools_), "C:See <tool_call>{}</think>.");
  EXPECT_EQ(
      parsed(
          "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": \"«<tool_call>»</tool_call>\"}}</tool_call>",
          tools_),
      "F:nowA:{\"a\":\"<tool_call></tool_call>\"};");
}

TEST_F(AnswerParserTest, WithoutToolsOnlyReasoningIsMarkup) {
  EXPECT_EQ(parsed("<think>Hm.</think><tool_call>{\"name\": \"now\"}", none_),
            "R:Hm.C:<tool_call>{\"name\": \"now\"}");
}

TEST_F(AnswerParserTest, HiddenTokensAreNotShown) { EXPECT_EQ(parsed("a<|hidden|>b", tools_), "C:ab"); }

TEST_F(AnswerParserTest, AnAnswerInReasoningThatNeverEndsIsContentToo) {
  EXPECT_EQ(parsed("The answer is 5.", tools_, true), "R:The answer is 5.C:The answer is 5.");
  EXPECT_EQ(parsed("The answer is", tools_, true, /*stopped=*/false), "R:The answer is");
  EXPECT_EQ(parsed("Hm.</think>5.", tools_, true), "R:Hm.C:5.");
  EXPECT_EQ(parsed("Hm.<tool_call>{\"name\": \"now\"}", tools_, true), "R:Hm.F:nowA:{};");
}

TEST_F(AnswerParserTest, CharactersCutByTokensAreWhole) {
  EXPECT_EQ(parsed("a«\xE4\xB8\xAD»b", tools_), "C:a中b");
  EXPECT_EQ(parsed("a«\xE4\xB8»<think>b</think>", tools_), "C:a\uFFFDR:b");
  EXPECT_EQ(parsed("a«\xE4\xB8»", tools_), "C:a\uFFFD");
}

TEST_F(AnswerParserTest, StylesAreFoundAndNamed) {
  EXPECT_EQ(AnswerStyle::create("auto", "<tool_call>\n{\"name\"", *tokenizer_)->family(), "hermes");
  EXPECT_EQ(AnswerStyle::create("auto", "{{ messages }}", *tokenizer_)->family(), "none");
  EXPECT_EQ(AnswerStyle::create("none", "<tool_call>", *tokenizer_)->family(), "none");
  EXPECT_EQ(AnswerStyle::create("kimi_k2", "", *tokenizer_)->family(), "kimi_k2");
  EXPECT_THAT(AnswerStyle::create("kimi", "", *tokenizer_).error().message,
              HasSubstr("use one of auto, none, deepseek"));
  style_ = *AnswerStyle::create("none", "", *tokenizer_);
  EXPECT_EQ(parsed("<think>a</think> <tool_call>", tools_), "C:<think>a</think> <tool_call>");
}

TEST_F(AnswerParserTest, PromptsEndInReasoningWhenTheyOpenIt) {
  EXPECT_TRUE(style_.ends_in_reasoning("<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(style_.ends_in_reasoning("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(style_.ends_in_reasoning("What is <think>?<|im_end|>\n<|im_start|>assistant\n"));
  EXPECT_EQ(tokenizer_->decode(style_.reasoning_end()), "</think>");
}

}  // namespace
}  // namespace reprise
