// Pre-tokenizers as the models' own tokenizer.json have them, and what they are recognised as.
#include <gtest/gtest.h>

#include "text/tokenizer/json_parts.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

PieceScanner scanner_of(const std::string& pre_tokenizer) {
  const boost::json::value value = boost::json::parse(pre_tokenizer);
  const auto made = read_pretokenizer(JsonNode(value, "pre_tokenizer"), true);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? made->pretokenizer.scanner() : nullptr;
}

std::string sequence(const std::string& steps) {
  return R"({"type":"Sequence","pretokenizers":[)" + steps +
         R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]})";
}
std::string split(const std::string& pattern) {
  return R"({"type":"Split","pattern":{"Regex":")" + pattern + R"("},"behavior":"Isolated","invert":false},)";
}
const std::string kDigits = R"({"type":"Digits","individual_digits":true},)";

TEST(JsonPretokenizer, KnowsDeepseekCoder) {
  EXPECT_EQ(scanner_of(sequence(split(R"([\r\n])") + split(R"(\\s?\\p{L}+)") + split(R"(\\s?\\p{P}+)") +
                                split("[一-龥ࠀ-一가-퟿]+") + kDigits)),
            &scan_deepseek_coder);
}

TEST(JsonPretokenizer, KnowsDeepseekLlm) {
  EXPECT_EQ(
      scanner_of(sequence(
          split(R"([\r\n])") +
          split(
              "\\\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-"
              "ՖႠ-"
              "ჅᎠ-"
              "Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-"
              "Ὅὐ-ὗὙὛὝὟ-\u1F7Dᾀ-ᾴᾶ-ᾼ\u1FBEῂ-ῄῆ-ῌῐ-\u1FD3ῖ-\u1FDBῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212A-ℭℯ-"
              "ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-"
              "ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-"
              "ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-"
              "𑣟𞤀-𞥃]+") +
          split("\\\\s?[!-/:-~！-／：-～‘-‟　-。]+") + split(R"(\\s+$)") + split("[一-龥ࠀ-一가-퟿]+") +
          kDigits)),
      &scan_deepseek_llm);
}

TEST(JsonPretokenizer, KnowsDeepseekV3) {
  const std::string words =
      R"([!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+)"
      R"(| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+)";
  for (const char* kana : {"[一-龥\u3040-ゟ゠-ヿ]+", R"([\\u4e00-\\u9fa5\\u3040-\\u309f\\u30a0-\\u30ff]+)",
                           R"([\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+)"})
    EXPECT_EQ(scanner_of(sequence(split(R"(\\p{N}{1,3})") + split(kana) + split(words))), &scan_deepseek_v3);
}

TEST(JsonPretokenizer, KnowsGptOss) {
  const std::string words =
      R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
      R"(|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
      R"(|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)";
  EXPECT_EQ(scanner_of(sequence(split(words))), &scan_gpt4o);
}

TEST(JsonPretokenizer, TakesOtherPatternsForWhatTheyAre) {
  EXPECT_EQ(scanner_of(sequence(split(R"(\\p{N}{1,3})") + split("[一-龥]+"))), nullptr);
  EXPECT_EQ(scanner_of(sequence(split(R"([\\u005d]+)"))), nullptr) << "escaped, as it must be";
}

}  // namespace
}  // namespace reprise
