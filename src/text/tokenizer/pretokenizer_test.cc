#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tokenizer/char_class.h"
#include "text/tokenizer/digit_groups.h"
#include "text/tokenizer/fine_class.h"
#include "text/tokenizer/pretokenizer_table.h"
#include "text/tokenizer/regex_chain.h"

namespace reprise {
namespace {

using testing::ElementsAre;

class Pieces final : public PieceSink {
 public:
  void piece(std::string_view piece) override { all.emplace_back(piece); }
  std::vector<std::string> all;
};

std::vector<std::string> pieces(std::string_view name, std::string_view text) {
  const auto spec = find_pretokenizer(name);
  EXPECT_TRUE(spec.has_value());
  const auto pretokenizer = chain_pretokenizer((*spec)->chain);
  Pieces sink;
  pretokenizer->split(text, true, sink);
  return sink.all;
}

std::string encoded(uint32_t c) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)),
          byte(0x80 | (c & 63))};
}

// Mixed text: short runs from families that meet in every combination. Code points are of Unicode 13 and
// older, where PCRE2's and utf8proc's tables agree.
class MixedText {
 public:
  explicit MixedText(uint32_t seed) : random_(seed) {}

  std::string operator()(size_t parts) {
    static const std::vector<std::string> kParts = {" ",
                                                    "  ",
                                                    "\t",
                                                    "\n",
                                                    "\r",
                                                    "\r\n",
                                                    "\n\n ",
                                                    "   \n",
                                                    "             ",
                                                    "'",
                                                    "'s",
                                                    "'S",
                                                    "'ll",
                                                    "'Re",
                                                    "'VE",
                                                    "'d",
                                                    "'ſ",
                                                    "'t",
                                                    "''m",
                                                    "a",
                                                    "Abc",
                                                    "word",
                                                    "x1",
                                                    "ABC",
                                                    "XYz",
                                                    "ǅ",
                                                    "ʰ",
                                                    "々",
                                                    "〇",
                                                    "⺀",
                                                    "ー",
                                                    "/",
                                                    "/\n/",
                                                    "_a",
                                                    "\x01",
                                                    "1",
                                                    "22",
                                                    "333",
                                                    "4444",
                                                    "!",
                                                    "...",
                                                    "$+<",
                                                    "=",
                                                    "_",
                                                    "\"",
                                                    "{}",
                                                    ";",
                                                    "你好",
                                                    "。",
                                                    "、",
                                                    "　",
                                                    "　　",
                                                    "가",
                                                    "ｱ",
                                                    "Ж",
                                                    "É",
                                                    "e\u0301",
                                                    "\u0301",
                                                    "½",
                                                    "Ⅷ",
                                                    "٣",
                                                    "१",
                                                    "👍🏽",
                                                    "👩‍👩‍👧",
                                                    "🏳️‍🌈",
                                                    "“q”",
                                                    "‘",
                                                    "—",
                                                    "\u00A0",
                                                    "\u2003",
                                                    "\u2028",
                                                    "\u0085",
                                                    "\u180E",
                                                    "\u200B",
                                                    "\u200D",
                                                    "\uFEFF",
                                                    "Ａ",
                                                    "！",
                                                    "µ",
                                                    "ƻ",
                                                    "ℵ",
                                                    "K",
                                                    "\x80",
                                                    "\xFF",
                                                    "\xE4\xB8",
                                                    "\xF0\x9F\x98",
                                                    "\xC3",
                                                    "\xED\xA0\x80",
                                                    "\xC0\xAF",
                                                    "\0",
                                                    "\x0B"};
    std::string text;
    for (size_t i = 0; i < parts; ++i) {
      switch (random_() % 8) {
        case 0:
          text += encoded(32 + random_() % 95);
          break;
        case 1:
          text += encoded(some_code_point());
          break;
        default:
          text += kParts[random_() % kParts.size()];
      }
    }
    return text;
  }

 private:
  uint32_t some_code_point() {
    static constexpr std::pair<uint32_t, uint32_t> kBlocks[] = {
        {0x80, 0x24F},      {0x370, 0x3FF},     {0x400, 0x52F},   {0x5D0, 0x5EA},     {0x660, 0x669},
        {0x900, 0x97F},     {0xE01, 0xE5B},     {0x1E00, 0x1FBC}, {0x2000, 0x206F},   {0x2070, 0x209C},
        {0x2100, 0x218B},   {0x2C60, 0x2C7F},   {0x3000, 0x30FF}, {0x4E00, 0x4E40},   {0x9F90, 0x9FC0},
        {0xAC00, 0xAC40},   {0xD790, 0xD7A3},   {0xFF00, 0xFF60}, {0x10400, 0x1049D}, {0x1D7CE, 0x1D7FF},
        {0x1F300, 0x1F6C0}, {0x20000, 0x20010}, {0xE000, 0xE010}, {0xA640, 0xA6F7}};
    const auto [first, last] = kBlocks[random_() % std::size(kBlocks)];
    return first + random_() % (last - first + 1);
  }
  std::mt19937 random_;
};

std::vector<const PretokenizerSpec*> scanned_specs() {
  std::vector<const PretokenizerSpec*> scanned;
  for (const PretokenizerSpec& spec : pretokenizer_specs())
    if (spec.scanner != nullptr) scanned.push_back(&spec);
  return scanned;
}

class Scanner : public testing::TestWithParam<const PretokenizerSpec*> {};

TEST_P(Scanner, CutsLikeItsChainOfPatterns) {
  const PretokenizerSpec& spec = *GetParam();
  auto chain = RegexChain::compile(spec.chain);
  ASSERT_TRUE(chain.has_value()) << chain.error().message;
  MixedText mixed(static_cast<uint32_t>(&spec - pretokenizer_specs().data()) + 1);
  size_t cut = 0;
  for (int round = 0; round < 10000; ++round) {
    const std::string text = mixed(round < 8000 ? 1 + static_cast<size_t>(round) % 9 : 60);
    Pieces by_hand, by_patterns;
    spec.scanner(text, by_hand);
    chain->split(text, by_patterns);
    ASSERT_EQ(by_hand.all, by_patterns.all) << testing::PrintToString(text);
    std::string joined;
    for (const std::string& piece : by_hand.all) joined += piece;
    ASSERT_EQ(joined, text);
    cut += by_hand.all.size();
  }
  EXPECT_GT(cut, 20000u);
}

TEST_P(Scanner, CutsEveryCharacterLikeItsChainOfPatterns) {
  const PretokenizerSpec& spec = *GetParam();
  const auto chain = RegexChain::compile(spec.chain);
  for (uint32_t block = 0; block < 0x32400; block += 256) {
    if (block >= 0xD800 && block < 0xE000) continue;  // surrogates
    std::string text;
    for (uint32_t c = block; c < block + 256; ++c)
      text.append("A").append(encoded(c)).append("a1").append(encoded(c)).append("! ");
    Pieces by_hand, by_patterns;
    Pretokenizer(spec.scanner).split(text, true, by_hand);
    chain->split(text, by_patterns);
    ASSERT_EQ(by_hand.all, by_patterns.all) << fmt::format("U+{:04X}-U+{:04X}", block, block + 255);
  }
}
INSTANTIATE_TEST_SUITE_P(Specs, Scanner, testing::ValuesIn(scanned_specs()), [](const auto& info) {
  std::string name(info.param->names[0]);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(Pretokenizer, KnowsEachNameOnce) {
  std::set<std::string_view> names;
  for (const PretokenizerSpec& spec : pretokenizer_specs()) {
    for (const std::string_view name : spec.names) {
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_EQ(find_pretokenizer(name).value(), &spec) << name;
    }
  }
  EXPECT_EQ(find_pretokenizer("no such").error().kind, ErrorKind::kUnsupported);
}

TEST(Pretokenizer, GivesNoPieceForNoText) {
  for (const PretokenizerSpec& spec : pretokenizer_specs())
    EXPECT_THAT(pieces(spec.names[0], ""), ElementsAre());
}

// Compares pieces with the text they are of.
class Cover final : public PieceSink {
 public:
  explicit Cover(std::string_view text) : rest_(text) {}
  void piece(std::string_view piece) override {
    covers_ = covers_ && piece.data() == rest_.data() && piece.size() <= rest_.size();
    if (covers_) rest_.remove_prefix(piece.size());
  }
  bool whole() const { return covers_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool covers_ = true;
};

std::string repeated(std::string_view part, size_t bytes) {
  std::string text;
  text.reserve(bytes + part.size());
  while (text.size() < bytes) text += part;
  return text;
}

// Longer than PCRE2's own limit of steps allows, and not in the square of the length.
TEST(Pretokenizer, TakesLongRunsOfOneCharacter) {
  for (const char* part : {" ", "A", "中"}) {
    const std::string text = repeated(part, 12'100'000);
    for (const PretokenizerSpec& spec : pretokenizer_specs()) {
      const auto pretokenizer = chain_pretokenizer(spec.chain);
      ASSERT_TRUE(pretokenizer.has_value());
      Cover cover(text);
      pretokenizer->split(text, true, cover);
      EXPECT_TRUE(cover.whole()) << spec.names[0] << " " << part;
    }
  }
}

TEST(Pretokenizer, Gpt2) {
  EXPECT_THAT(pieces("gpt-2", "I'll go  to x12\n\n y"),
              ElementsAre("I", "'ll", " go", " ", " to", " x", "12", "\n\n", " y"));
}
TEST(Pretokenizer, SmollmCutsDigitsFirst) {
  EXPECT_THAT(pieces("smollm", "a  12 b"), ElementsAre("a", "  ", "1", "2", " b"));
}
TEST(Pretokenizer, Llama3TakesThreeDigitsAndLinesWithTheirIndent) {
  EXPECT_THAT(pieces("llama-bpe", "f(x1234);\n\n  Y'LL"),
              ElementsAre("f", "(x", "123", "4", ");\n\n", " ", " Y", "'LL"));
}
TEST(Pretokenizer, Qwen2TakesSingleDigits) {
  EXPECT_THAT(pieces("qwen2", "x12 \n y"), ElementsAre("x", "1", "2", " \n", " y"));
}
TEST(Pretokenizer, DeepseekCoder) {
  EXPECT_THAT(pieces("deepseek-coder", "a =  12\r\n 我x"),
              ElementsAre("a", " =  ", "1", "2", "\r", "\n", " ", "我", "x"));
}
TEST(Pretokenizer, DeepseekLlmCutsSpacesBeforeLineEnds) {
  EXPECT_THAT(pieces("deepseek-llm", " café (x)"), ElementsAre(" caf", "é", " (", "x", ")"));
  EXPECT_THAT(pieces("deepseek-llm", "a 1  \nb"), ElementsAre("a", " ", "1", "  ", "\n", "b"));
}
TEST(Pretokenizer, DeepseekV3) {
  EXPECT_THAT(pieces("deepseek-v3", "x_y=12345 日本"), ElementsAre("x", "_y", "=", "123", "45", " ", "日本"));
  EXPECT_THAT(pieces("deepseek-v3", "カ・ナ・\n\u3040\x01"),
              ElementsAre("カ", "・", "ナ", "・", "\n", "\u3040", "\x01"));
}
TEST(Pretokenizer, Jais2CutsSpacesIntoPowersOfTwo) {
  const auto sizes = [](const std::string& text) {
    std::vector<size_t> all;
    for (const std::string& piece : pieces("jais-2", text)) all.push_back(piece.size());
    return all;
  };
  EXPECT_THAT(sizes(repeated(" ", 777)), ElementsAre(512, 256, 8, 1));
  EXPECT_THAT(sizes(repeated(" ", 777) + "x"), ElementsAre(512, 256, 8, 2));
  EXPECT_THAT(sizes(repeated(" ", 512) + "!"), ElementsAre(256, 128, 64, 32, 16, 8, 4, 2, 1, 2));
}
TEST(Pretokenizer, Gpt4oCutsBeforeCapitals) {
  EXPECT_THAT(pieces("gpt-4o", "camelCaseIt's a//\n"), ElementsAre("camel", "Case", "It's", " a", "//\n"));
}
TEST(Pretokenizer, TekkenCutsContractionsAndDigits) {
  EXPECT_THAT(pieces("tekken", "It's 12"), ElementsAre("It", "'s", " ", "1", "2"));
}

TEST(DigitGroups, CutLikeTheirPatterns) {
  using Parts = std::vector<std::tuple<size_t, size_t, bool>>;
  for (const char* pattern : {R"(\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!\p{Nd})))", R"(\d{1,3}(?=(?:\d{3})*\b))",
                              R"((?=(\d{3})+(?!\d)))"}) {
    const auto groups = DigitGroups::of(pattern);
    ASSERT_TRUE(groups.has_value()) << pattern;
    const auto regex = Regex::compile(pattern);
    ASSERT_TRUE(regex.has_value()) << regex.error().message;
    std::mt19937 random(9);
    for (int round = 0; round < 3000; ++round) {
      std::string text;
      for (size_t n = random() % 14; n > 0; --n) {
        static const std::vector<std::string> kParts = {"1", "22", "333", "٣", "½",  "a",
                                                        "_", " ",  ".",   "é", "中", "\u0301"};
        text += kParts[random() % kParts.size()];
      }
      Parts by_hand, by_pattern;
      groups->for_each(text, [&](size_t b, size_t e, bool m) { by_hand.emplace_back(b, e, m); });
      Regex::Search(*regex).for_each(text,
                                     [&](size_t b, size_t e, bool m) { by_pattern.emplace_back(b, e, m); });
      ASSERT_EQ(by_hand, by_pattern) << pattern << " in " << text;
    }
    const std::string digits(1 << 20, '7');
    size_t parts = 0;
    groups->for_each(digits, [&](size_t, size_t, bool) { ++parts; });
    EXPECT_GT(parts, digits.size() / 3);
  }
  EXPECT_FALSE(DigitGroups::of(R"(\d+)").has_value());
}

TEST(Regex, GoesOnInWindowsWhereAMatchTakesTooLong) {
  const auto parts = [](std::string_view pattern, std::string_view text) {
    std::vector<size_t> lengths;
    const auto regex = Regex::compile(pattern);
    EXPECT_TRUE(regex.has_value()) << regex.error().message;
    Regex::Search(*regex).for_each(text,
                                   [&](size_t begin, size_t end, bool) { lengths.push_back(end - begin); });
    return lengths;
  };
  const std::string text = std::string(200'000, 'a') + "b" + std::string(1000, 'a');
  EXPECT_THAT(parts(repeated(R"(\w*a#|)", 600) + "a+", text),
              ElementsAre(65536, 65536, 65536, 3392, 1, 1000));
  EXPECT_THAT(parts("(?:a+)+[cd]", text), ElementsAre(text.size())) << "in a window as well";
}

TEST(CharClasses, KnowWhatThePatternsAsk) {
  const CharClassTable& classes = char_classes();
  EXPECT_EQ(classes['a'], kLetter);
  EXPECT_EQ(classes['7'], kNumber | kDigit);
  EXPECT_EQ(classes[0x2167], kNumber | kDigit);
  EXPECT_EQ(classes[0x16FF4], kDigit) << "a number since Unicode 17";
  EXPECT_EQ(classes['\n'], kSpace | kNewline);
  EXPECT_EQ(classes[0x85], kSpace);
  EXPECT_EQ(classes[0x180E], 0) << "no White_Space since Unicode 6.3";
  EXPECT_EQ(classes['+'], 0);
  EXPECT_EQ(classes['_'], kPunctuation);
  EXPECT_EQ(classes[0x110000], 0);
  const FineClassTable& fine = fine_classes();
  EXPECT_EQ(fine['a'], kLetter | kLower | kDeepseekWord | kDeepseekMark)
      << "deepseek-llm's mark ranges have :-~";
  EXPECT_EQ(fine[0x180E], kDeepseekIdeo);
  EXPECT_EQ(fine['+'], kSymbol | kDeepseekMark);
  EXPECT_EQ(fine['_'], kPunctuation | kDeepseekMark);
  EXPECT_EQ(fine[0x212A], kLetter | kUpper | kDeepseekWord | kDeepseekIdeo);
  EXPECT_EQ(fine[0x4E2D], kLetter | kHan | kDeepseekKana | kDeepseekIdeo);
  EXPECT_EQ(fine[0x3001], kPunctuation | kDeepseekMark | kDeepseekIdeo)
      << "used with Han, not of that script";
  EXPECT_EQ(fine[0x110000], 0);
}

}  // namespace
}  // namespace reprise
