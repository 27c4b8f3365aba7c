#include "text/tokenizer/json_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/tokenizer.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A byte-level BPE of few words; `more` goes before the model.
std::string byte_level(const std::string& more = "", const std::string& model = "") {
  return R"({"added_tokens": [
      {"id": 9, "content": "<|end|>", "special": true, "normalized": false},
      {"id": 10, "content": "<tool>", "special": false, "normalized": false, "lstrip": true, "rstrip": true},
      {"id": 11, "content": "ab", "special": false, "normalized": false, "single_word": true}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
    "decoder": {"type": "ByteLevel"}, )" +
         more +
         R"("model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "Ġ": 3, "Ãī": 4, "Ã": 5, "ī": 6, "bc": 7, "Ġa": 8},
      "merges": [["Ã", "ī"], "b c", ["Ġ", "a"]])" +
         model + "}}";
}

std::string unigram(const std::string& more) {
  return R"({"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "added_tokens": [{"id": 1, "content": "</s>", "special": true, "normalized": false}],
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["</s>", 0], ["▁", -3], ["a", -3], ["b", -3], ["ab", -4], ["▁a", -4.5])" +
         more + "]}}";
}

std::unique_ptr<Tokenizer> make(const std::string& tokenizer, const std::string& config = "",
                                const std::string& chat_template = "") {
  Vocabulary vocabulary;
  vocabulary.tokenizer_json = tokenizer;
  vocabulary.tokenizer_config_json = config;
  vocabulary.chat_template = chat_template;
  auto made = Tokenizer::create(vocabulary);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

Error refusal(const std::string& tokenizer, const std::string& config = "") {
  const auto stages = json_stages(tokenizer, config, "");
  EXPECT_FALSE(stages.has_value());
  return stages ? Error{} : stages.error();
}

TEST(TokenizerJson, ReadsByteLevelBpe) {
  const auto tokenizer = make(byte_level());
  EXPECT_EQ(tokenizer->size(), 12u);
  EXPECT_THAT(tokenizer->encode("abc a"), ElementsAre(0, 7, 8));
  EXPECT_THAT(tokenizer->encode("É"), ElementsAre(4));
  EXPECT_THAT(tokenizer->encode("\xC3"), ElementsAre(5)) << "bytes that are no UTF-8 are encoded as they are";
  EXPECT_EQ(tokenizer->bytes(8), " a");
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{0, 5, 6, 9}), "aÉ");
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{0, 9}, true), "a<|end|>");
}

TEST(TokenizerJson, FindsAddedTokensAsTheirFlagsSay) {
  const auto tokenizer = make(byte_level());
  EXPECT_THAT(tokenizer->encode("a  <tool> \n b"), ElementsAre(0, 10, 1)) << "whitespace is taken along";
  EXPECT_THAT(tokenizer->encode("ab abc"), ElementsAre(11, 8, 7)) << "a single word, elsewhere its letters";
  EXPECT_THAT(tokenizer->encode("a<|end|>"), ElementsAre(0, 9));
  for (const TokenId id : tokenizer->encode("a<|end|>", {.parse_special = false})) EXPECT_NE(id, 9);
}

TEST(TokenizerJson, ControlTokensAreNoWords) {
  // The best way to write "</s>" would be the token itself; text that looks like it is spelled.
  const auto tokenizer = make(unigram(R"(, ["<", -9], ["/", -9], ["s", -9], [">", -9])"));
  EXPECT_THAT(tokenizer->encode("</s>"), ElementsAre(1));
  EXPECT_THAT(tokenizer->encode("</s>", {.parse_special = false}), ElementsAre(2, 7, 8, 9, 10));
}

// Tokens that open and close turns are ordinary ones in many models' files.
TEST(TokenizerJson, TokensOfTheChatTemplateAreControlTokensThatAreShown) {
  const std::string tokenizer =
      R"({"added_tokens": [
      {"id": 8, "content": "<|user|>", "special": false}, {"id": 9, "content": "<｜User｜>", "special": false},
      {"id": 10, "content": "<start_of_turn>", "special": false}, {"id": 11, "content": "<unused7>", "special": false},
      {"id": 12, "content": "<eos>", "special": false}, {"id": 13, "content": "<img>", "special": false},
      {"id": 14, "content": "[INST]", "special": false}, {"id": 15, "content": "<word>", "special": false},
      {"id": 16, "content": "  ", "special": false}, {"id": 17, "content": "if", "special": false}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"<": 0, "a": 1, "[": 2, ">": 3, "]": 4, "|": 5, "u": 6, "i": 7}, "merges": []}})";
  const auto made = make(tokenizer, R"({"eos_token": "<eos>", "additional_special_tokens": ["<img>"]})",
                         "{% if a %}  [INST]{{ a }}{% endif %}");
  const std::vector<TextSpan> nowhere;
  for (const std::string text :
       {"<|user|>", "<｜User｜>", "<start_of_turn>", "<unused7>", "<eos>", "<img>", "[INST]"}) {
    const std::vector<TokenId> whole = made->encode(text);
    ASSERT_EQ(whole.size(), 1u) << text;
    EXPECT_GE(whole[0], 8) << text;
    for (const EncodeOptions options :
         {EncodeOptions{.parse_special = false}, EncodeOptions{.control_spans = nowhere}})
      for (const TokenId id : made->encode(text, options)) EXPECT_LT(id, 8) << text;
    const bool hidden = text == "<eos>" || text == "<img>";
    EXPECT_EQ(made->is_hidden(whole[0]), hidden) << text;
    EXPECT_EQ(made->decode(whole), hidden ? "" : text);
  }
  for (const std::string word : {"<word>", "  ", "if"})
    EXPECT_EQ(made->encode(word, {.parse_special = false}), made->encode(word)) << "found anywhere: " << word;
}

TEST(TokenizerJson, ReadsUnigram) {
  const auto tokenizer = make(unigram(""));
  EXPECT_THAT(tokenizer->encode("AB"), ElementsAre(2, 5)) << "-3 - 4 against -4.5 - 3";
  EXPECT_THAT(tokenizer->encode("ba"), ElementsAre(2, 4, 3));
  EXPECT_THAT(tokenizer->encode("a中文a"), ElementsAre(6, 0, 3)) << "unknown characters are one token";
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("ab ba")), "ab ba");
}

TEST(TokenizerJson, AddsWhatThePostProcessorSays) {
  const std::string single =
      R"("single": [{"SpecialToken": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "B", "type_id": 0}}])";
  const std::string post =
      R"("post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing", )" +
      single + R"(, "special_tokens": {"A": {"ids": [9, 2]}, "B": {"ids": [1]}}}]}, )";
  const EncodeOptions add{.add_bos_eos = true};
  EXPECT_THAT(make(byte_level(post))->encode("a", add), ElementsAre(9, 2, 0, 1));
  EXPECT_THAT(
      make(byte_level(
               R"("post_processor": {"type": "RobertaProcessing", "sep": ["b", 1], "cls": ["a", 0]}, )"))
          ->encode("c", add),
      ElementsAre(0, 2, 1));
  // Classes that build their own.
  const auto llama = make(
      byte_level(post),
      R"({"tokenizer_class": "LlamaTokenizerFast", "bos_token": "<|end|>", "eos_token": {"content": "b"}})");
  EXPECT_THAT(llama->encode("a", add), ElementsAre(9, 0));
  EXPECT_EQ(llama->bos(), 9);
  EXPECT_EQ(llama->eos(), 1);
  EXPECT_EQ(make(byte_level())->bos(), std::nullopt);
}

TEST(TokenizerJson, TakesTokensFromTheConfig) {
  const auto tokenizer = make(
      byte_level(),
      R"({"added_tokens_decoder": {"12": {"content": "<more>", "special": true}, "9": {"content": "<|end|>", "special": true}}})");
  EXPECT_THAT(tokenizer->encode("<more>a"), ElementsAre(12, 0));
  EXPECT_TRUE(tokenizer->is_hidden(12));
}

TEST(TokenizerJson, NamesWhatItDoesNotKnow) {
  const Error model = refusal(R"({"model": {"type": "WordPiece", "vocab": {}}})");
  EXPECT_EQ(model.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(model.message,
            "tokenizer.json.model: the model \"WordPiece\" is not supported; use a tokenizer with a BPE or "
            "Unigram model");
  EXPECT_EQ(
      refusal(
          byte_level(
              R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Klingon"}]}, )"))
          .message,
      "tokenizer.json.normalizer.normalizers[1]: the normalizer \"Klingon\" is not known");
  EXPECT_THAT(refusal(byte_level(R"("post_processor": {"type": "X"}, )")).message,
              HasSubstr("\"X\" is not known"));
  EXPECT_THAT(refusal(byte_level("", R"(, "dropout": 0.1)")).message, HasSubstr("dropout"));
  EXPECT_THAT(
      refusal(R"({"pre_tokenizer": {"type": "UnicodeScripts"}, "model": {"type": "Unigram", "vocab": []}})")
          .message,
      HasSubstr("UnicodeScripts"));
  EXPECT_THAT(
      refusal(
          R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a("}, "behavior": "Isolated"}, "model": {"type": "Unigram", "vocab": []}})")
          .message,
      HasSubstr("a( is not understood"));
}

TEST(TokenizerJson, NamesWhereItIsBroken) {
  EXPECT_THAT(refusal("{").message, HasSubstr("tokenizer.json is no JSON"));
  EXPECT_EQ(refusal("[]").message, "tokenizer.json is no JSON object");
  EXPECT_EQ(refusal(byte_level(), "3").message, "tokenizer_config.json is no JSON object");
  EXPECT_EQ(refusal(R"({"model": {"type": "BPE"}})").message,
            "tokenizer.json.model.vocab is missing, wanted an object");
  EXPECT_EQ(refusal(R"({"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}})").message,
            "tokenizer.json.model.vocab: the id of \"a\" is not one");
  EXPECT_THAT(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}})").message,
              HasSubstr("merges[0] (\"a\" \"b\") names a token"));
  EXPECT_THAT(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]}})").message,
              HasSubstr("merges[0] is not two tokens"));
  EXPECT_THAT(refusal(R"({"model": {"type": "Unigram", "vocab": [["a"]]}})").message,
              HasSubstr("vocab[0] is not a token and its score"));
  EXPECT_THAT(refusal(R"({"model": {"type": "Unigram", "unk_id": 4, "vocab": [["a", 1]]}})").message,
              HasSubstr("unk_id is no token"));
  EXPECT_THAT(
      refusal(
          byte_level(R"("post_processor": {"type": "BertProcessing", "sep": ["b", 100], "cls": ["a", 0]}, )"))
          .message,
      HasSubstr("adds token 100"));
  EXPECT_EQ(
      refusal(
          byte_level(R"("post_processor": {"type": "BertProcessing", "sep": ["b", -1], "cls": ["a", 0]}, )"))
          .message,
      "tokenizer.json.post_processor.sep[1] is no id");
}

}  // namespace
}  // namespace reprise
