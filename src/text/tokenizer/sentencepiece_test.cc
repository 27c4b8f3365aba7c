#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/tokenizer.h"
#include "text/utf8.h"

namespace reprise {
namespace {

using testing::HasSubstr;

const std::string kSpace = "\u2581";

// <unk>, <s>, </s>, a user-defined "<b>", the 256 bytes, then the words given, which may have scores alike.
Vocabulary vocabulary_of(const std::vector<std::pair<std::string, float>>& words, bool bytes = true) {
  Vocabulary made{.model = "llama", .pre = "default"};
  const auto add = [&](const std::string& text, TokenType type, float score) {
    made.tokens.push_back(text);
    made.types.push_back(type);
    made.scores.push_back(score);
    return static_cast<TokenId>(made.tokens.size() - 1);
  };
  made.unk = add("<unk>", TokenType::kUnknown, 0);
  made.bos = add("<s>", TokenType::kControl, 0);
  made.eos = add("</s>", TokenType::kControl, 0);
  add("<b>", TokenType::kUserDefined, 0);
  for (int byte = 0; bytes && byte < 256; ++byte) add(fmt::format("<0x{:02X}>", byte), TokenType::kByte, 0);
  for (const auto& [text, score] : words) add(text, TokenType::kNormal, score);
  made.add_bos = true;
  return made;
}

std::unique_ptr<Tokenizer> make(const Vocabulary& vocabulary) {
  auto made = Tokenizer::create(vocabulary);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

std::string shown(const Vocabulary& vocabulary, const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids)
    text.append(text.empty() ? "" : "|").append(vocabulary.tokens[static_cast<size_t>(id)]);
  return text;
}

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> all;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const size_t length = utf8_step(p, end).length;
    all.emplace_back(p, length);
    p += length;
  }
  return all;
}

// SentencePiece's BPE by its definition: of all neighbours whose joint text is a word, the pair of the best
// score, leftmost first, is joined; what is no word in the end is spelled in bytes, or unknown.
std::vector<TokenId> by_definition(const Vocabulary& vocabulary, std::string text) {
  std::map<std::string, TokenId> words;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i)
    if (vocabulary.types[i] == TokenType::kNormal) words.try_emplace(vocabulary.tokens[i], i);
  std::string escaped = vocabulary.add_space_prefix && !text.empty() ? kSpace : "";
  for (const char c : text) escaped += c == ' ' ? kSpace : std::string(1, c);
  std::vector<std::string> symbols = characters(escaped);
  for (;;) {
    size_t best = symbols.size();
    float best_score = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = words.find(symbols[i] + symbols[i + 1]);
      if (found == words.end()) continue;
      const float score = vocabulary.scores[static_cast<size_t>(found->second)];
      if (best < symbols.size() && score <= best_score) continue;
      best = i;
      best_score = score;
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
  const bool bytes = vocabulary.types[4] == TokenType::kByte;
  std::vector<TokenId> ids;
  for (const std::string& symbol : symbols) {
    if (const auto found = words.find(symbol); found != words.end()) {
      ids.push_back(found->second);
    } else if (bytes) {
      for (const char c : symbol) ids.push_back(4 + static_cast<uint8_t>(c));
    } else if (ids.empty() || ids.back() != *vocabulary.unk) {
      ids.push_back(*vocabulary.unk);
    }
  }
  return ids;
}

TEST(SentencePieceBpe, MergesByDefinition) {
  std::mt19937 random(7);
  const std::vector<std::string> alphabet = {"a", "b", "c", kSpace, "é", "中"};
  for (int round = 0; round < 120; ++round) {
    std::vector<std::pair<std::string, float>> words;
    for (const std::string& character : alphabet)  // some characters are in words only
      if (random() % 4 != 0) words.emplace_back(character, -100.f);
    for (size_t i = random() % 60; i > 0; --i) {
      std::string word;
      for (size_t n = 2 + random() % 4; n > 0; --n) word += alphabet[random() % alphabet.size()];
      words.emplace_back(word, -static_cast<float>(random() % 20));  // many ties
    }
    Vocabulary vocabulary = vocabulary_of(words, round % 2 == 0);
    vocabulary.add_space_prefix = round % 3 == 0;
    const auto tokenizer = make(vocabulary);
    for (size_t length = 0; length < 150; length += 1 + length / 6) {
      std::string text;
      for (size_t i = 0; i < length; ++i) {
        const std::string& character = alphabet[random() % alphabet.size()];
        text += random() % 12 == 0 ? "\u0416" : character == kSpace ? " " : character;
      }
      ASSERT_EQ(tokenizer->encode(text), by_definition(vocabulary, text))
          << "round " << round << ": " << text;
    }
  }
}

TEST(SentencePieceBpe, WritesSpacesAndBytes) {
  Vocabulary vocabulary =
      vocabulary_of({{kSpace, -9}, {"a", -9}, {"b", -9}, {"ab", -1}, {kSpace + "ab", -2}});
  const auto tokenizer = make(vocabulary);
  EXPECT_EQ(shown(vocabulary, tokenizer->encode("ab ab  b")), "▁ab|▁ab|▁|▁|b");
  EXPECT_EQ(shown(vocabulary, tokenizer->encode("é\n")), "▁|<0xC3>|<0xA9>|<0x0A>");
  EXPECT_EQ(shown(vocabulary, tokenizer->encode("ab", {.add_bos_eos = true})), "<s>|▁ab");
  EXPECT_EQ(shown(vocabulary, tokenizer->encode("ab<b>ab</s>")), "▁ab|<b>|▁ab|</s>");  // each stretch its own
  EXPECT_EQ(shown(vocabulary, tokenizer->encode("")), "");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("ab  ab é\x01")), "ab  ab é\x01");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" ab")), " ab");
  EXPECT_EQ(tokenizer->bytes(static_cast<TokenId>(vocabulary.tokens.size() - 1)), " ab");
  EXPECT_EQ(tokenizer->bytes(4 + 0xC3), "\xC3");
  vocabulary.add_space_prefix = false;
  const auto without = make(vocabulary);
  EXPECT_EQ(shown(vocabulary, without->encode("ab ab")), "ab|▁ab");
  EXPECT_EQ(without->decode(without->encode(" ab ab")), " ab ab");
}

// Gemma's runs of spaces, which its GGUF files write as they are.
TEST(SentencePieceBpe, FindsRunsOfSpacesHoweverTheyAreWritten) {
  Vocabulary vocabulary = vocabulary_of({{kSpace, -9}, {"a", -9}, {kSpace + "a", -1}});
  for (const char* run : {"  ", "   ", "\n\n"}) {
    vocabulary.tokens.emplace_back(run);
    vocabulary.types.push_back(TokenType::kUserDefined);
    vocabulary.scores.push_back(0);
  }
  vocabulary.add_space_prefix = false;
  const auto tokenizer = make(vocabulary);
  for (const std::string text : {"  a", "\u2581 a", " \u2581a", "\u2581\u2581a"})
    EXPECT_EQ(shown(vocabulary, tokenizer->encode(text)), "  |a") << text;
  EXPECT_EQ(shown(vocabulary, tokenizer->encode("a a    a\n\n  ")), "a|▁a|   |▁a|\n\n|  ");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a    a")), "a    a");
}

TEST(SentencePieceBpe, ReplacesWhatIsNoUtf8) {
  const Vocabulary vocabulary = vocabulary_of({{kSpace, -9}, {"a", -9}});
  const auto tokenizer = make(vocabulary);
  EXPECT_EQ(tokenizer->encode("a\xFF\xE4\xB8"), tokenizer->encode("a\uFFFD\uFFFD"));
  // Bytes that a model may write: a run that is no UTF-8 is replaced byte by byte.
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{4 + 0xE4, 4 + 0xB8, 4 + 0xAD}), "中");
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{4 + 'x', 4 + 0xFF}), "\uFFFD\uFFFD");
}

TEST(SentencePieceBpe, MergesAMegabyteOfOneCharacter) {
  const Vocabulary vocabulary =
      vocabulary_of({{"a", -9}, {"aa", -1}, {"aaaa", -2}, {kSpace, -9}, {kSpace + kSpace, -3}});
  const auto tokenizer = make(vocabulary);
  for (const std::string run : {"a", " ", "中", "\xFF"}) {
    std::string text;
    while (text.size() < (1 << 20)) text += run;
    const auto ids = tokenizer->encode(text);
    EXPECT_EQ(tokenizer->decode(ids), as_utf8(text));
  }
}

TEST(SentencePieceBpe, RefusesBrokenVocabularies) {
  const auto refusal = [](const Vocabulary& vocabulary) {
    const auto made = Tokenizer::create(vocabulary);
    return made ? "made" : made.error().message;
  };
  Vocabulary vocabulary = vocabulary_of({{"a", -9}});
  vocabulary.scores.pop_back();
  EXPECT_THAT(refusal(vocabulary), HasSubstr("scores"));
  vocabulary.scores.push_back(NAN);
  EXPECT_THAT(refusal(vocabulary), HasSubstr("no number"));
  vocabulary = vocabulary_of({{std::string(2000, 'a'), -9}});
  EXPECT_THAT(refusal(vocabulary), HasSubstr("2000 bytes"));
  vocabulary = vocabulary_of({});
  vocabulary.unk = 70000;
  EXPECT_THAT(refusal(vocabulary), HasSubstr("unknown token"));
}

}  // namespace
}  // namespace reprise
