// Patterns as Oniguruma means them. What a set holds is asked of utf8proc, code point by code point, where
// Unicode's versions agree (stand_in).
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utf8proc.h>

#include "text/tokenizer/regex.h"
#include "text/utf8.h"

namespace reprise {
namespace {

using testing::ElementsAre;

std::vector<std::string> matches(std::string_view pattern, std::string_view text) {
  std::vector<std::string> all;
  auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.has_value()) << regex.error().message;
  if (!regex) return all;
  Regex::Search(*regex).for_each(text, [&](size_t begin, size_t end, bool match) {
    if (match) all.emplace_back(text.substr(begin, end - begin));
  });
  return all;
}

// Code points that need no stand-in and are no private use; each stands alone in its line.
const std::vector<uint32_t>& code_points() {
  static const std::vector<uint32_t> all = [] {
    std::vector<uint32_t> made;
    for (uint32_t c = 0; c < 0x30000; ++c)
      if (stand_in(c) == c && (c < 0xD800 || c >= 0xF900)) made.push_back(c);
    for (uint32_t c = 0xE0000; c < 0xE0200; ++c) made.push_back(c);
    return made;
  }();
  return all;
}

std::string category(uint32_t c) { return utf8proc_category_string(static_cast<utf8proc_int32_t>(c)); }

// Those of code_points() that the pattern, which matches one character, matches.
std::vector<bool> set_of(std::string_view pattern) {
  static const std::string text = [] {
    std::string made;
    for (const uint32_t c : code_points()) append_utf8(made, c);
    return made;
  }();
  std::vector<bool> set;
  auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.has_value()) << regex.error().message;
  if (!regex) return set;
  Regex::Search(*regex).for_each(text, [&](size_t begin, size_t end, bool match) {
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    set.insert(set.end(),
               static_cast<size_t>(std::ranges::count_if(part, [](char c) { return (c & 0xC0) != 0x80; })),
               match);
  });
  return set;
}

using Belongs = std::function<bool(uint32_t c, const std::string& category)>;

void expect_set(std::string_view pattern, const Belongs& belongs) {
  const std::vector<bool> set = set_of(pattern);
  ASSERT_EQ(set.size(), code_points().size()) << pattern;
  int shown = 0;
  for (size_t i = 0; i < set.size() && shown < 5; ++i) {
    const uint32_t c = code_points()[i];
    if (set[i] == belongs(c, category(c))) continue;
    ADD_FAILURE() << pattern << fmt::format(": U+{:04X}, {}", c, category(c));
    ++shown;
  }
}

TEST(Oniguruma, MeansWhatItsSyntaxSays) {
  EXPECT_THAT(matches(R"([\p{L}&&[^\p{Han}]]+)", "ab中c"), ElementsAre("ab", "c"));
  EXPECT_THAT(matches(R"([^\p{L}&&[^\p{Han}]]+)", "ab中c"), ElementsAre("中"));
  EXPECT_THAT(matches(R"([a-c[x-z]0]+)", "bx0m"), ElementsAre("bx0"));
  EXPECT_THAT(matches(R"([^(\s|[.,])]+)", "a.b(c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(matches(R"([^\W\d_]+)", "a1_é"), ElementsAre("a", "é"));
  EXPECT_THAT(matches(R"([[:alpha]]+)", "al:x"), ElementsAre("al:")) << "no bracket: a class in a class";
  EXPECT_THAT(matches(R"(\h{2}\u00e9)", "0Fé"), ElementsAre("0Fé"));
  EXPECT_THAT(matches(R"(\v[\v]|\V[\Q]\E|\pL)", "\v\v\n\nVQEpLl"), ElementsAre("\v\v", "VQE", "pL"));
  EXPECT_THAT(matches(R"(a{1,2}+)", "aaaa"), ElementsAre("aaaa")) << "repeated, not possessive";
  EXPECT_THAT(matches(R"((?m:a.b))", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(matches(R"(a.b)", "a\nb"), ElementsAre());
  EXPECT_THAT(matches(R"(^b$)", "a\nb\nc"), ElementsAre("b"));
  EXPECT_THAT(matches(R"(\b)", "a b"), ElementsAre("", "", "", ""));
  for (const char* broken : {"(", "a)", "[a", "\\", "[[:alpha:", "[[:letter:]]", "\\p{Letters}"})
    EXPECT_FALSE(Regex::compile(broken).has_value()) << broken;
}

TEST(Oniguruma, KnowsCategoriesByBothNames) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"Lu", "Uppercase_Letter"},
                                                            {"Ll", "Lowercase_Letter"},
                                                            {"Lt", "Titlecase_Letter"},
                                                            {"Lm", "Modifier_Letter"},
                                                            {"Lo", "Other_Letter"},
                                                            {"Mn", "Nonspacing_Mark"},
                                                            {"Mc", "spacing mark"},
                                                            {"Me", "enclosing-mark"},
                                                            {"Nd", "Decimal_Number"},
                                                            {"Nl", "Letter_Number"},
                                                            {"No", "OtherNumber"},
                                                            {"Pc", "Connector_Punctuation"},
                                                            {"Pd", "Dash_Punctuation"},
                                                            {"Ps", "Open_Punctuation"},
                                                            {"Pe", "Close_Punctuation"},
                                                            {"Pi", "Initial_Punctuation"},
                                                            {"Pf", "Final_Punctuation"},
                                                            {"Po", "Other_Punctuation"},
                                                            {"Sm", "Math_Symbol"},
                                                            {"Sc", "Currency_Symbol"},
                                                            {"Sk", "Modifier_Symbol"},
                                                            {"So", "Other_Symbol"},
                                                            {"Zs", "Space_Separator"},
                                                            {"Zl", "Line_Separator"},
                                                            {"Zp", "Paragraph_Separator"},
                                                            {"Cc", "Control"},
                                                            {"Cf", "Format"},
                                                            {"L", "Letter"},
                                                            {"M", "Mark"},
                                                            {"N", "Number"},
                                                            {"P", "Punctuation"},
                                                            {"S", "Symbol"},
                                                            {"Z", "Separator"}};
  for (const auto& [brief, full] : kNames) {
    const Belongs belongs = [brief](uint32_t, const std::string& category) {
      return category.starts_with(brief);
    };
    expect_set(fmt::format("\\p{{{}}}", brief), belongs);
    expect_set(fmt::format("\\p{{{}}}", full), belongs);
    expect_set(fmt::format("[^\\P{{{}}}]", full), belongs);
  }
}

TEST(Oniguruma, KnowsClassesOfCAsUnicodeHasThem) {
  const auto any_of = [](std::string_view first_letters,
                         std::initializer_list<std::string_view> others = {}) -> Belongs {
    return [first_letters, others = std::vector<std::string_view>(others)](uint32_t,
                                                                           const std::string& category) {
      return first_letters.contains(category[0]) || std::ranges::find(others, category) != others.end();
    };
  };
  const auto ascii = [](auto... ranges) -> Belongs {
    return [=](uint32_t c, const std::string&) { return ((c >= ranges.first && c <= ranges.second) || ...); };
  };
  const std::pair<const char*, Belongs> sets[] = {
      {"cntrl", any_of("", {"Cc"})},
      {"digit", any_of("", {"Nd"})},
      {"graph", any_of("LMNPS", {"Cf", "Co"})},
      {"print", any_of("LMNPS", {"Cf", "Co", "Zs"})},
      {"blank", [](uint32_t c, const std::string& category) { return c == '\t' || category == "Zs"; }},
      {"space",
       [](uint32_t c, const std::string& category) {
         return (c >= 9 && c <= 13) || c == 0x85 || category[0] == 'Z';
       }},
      {"ascii", ascii(std::pair(0u, 0x7Fu))},
      {"xdigit", ascii(std::pair(0x30u, 0x39u), std::pair(0x41u, 0x46u), std::pair(0x61u, 0x66u))},
  };
  for (const auto& [name, belongs] : sets) {
    const Belongs complement = [&belongs](uint32_t c, const std::string& category) {
      return !belongs(c, category);
    };
    expect_set(fmt::format("[[:{}:]]", name), belongs);
    expect_set(fmt::format("[[:^{}:]]", name), complement);
    expect_set(fmt::format("[^[:{}:]]", name), complement);
    expect_set(fmt::format("\\p{{{}}}", name), belongs);
    expect_set(fmt::format("\\P{{{}}}", name), complement);
  }
  expect_set("[[:punct:]]", any_of("PS"));
  expect_set(R"(\p{Punct})", any_of("P"));
  expect_set(R"(\p{PosixPunct})", any_of("PS"));
}

// Letters are more than the category: numbers that are letters, circled letters, signs of vowels.
TEST(Oniguruma, KnowsLetterNumbersAsLetters) {
  const std::vector<bool> alpha = set_of("[[:alpha:]]"), alnum = set_of("[[:alnum:]]"),
                          word = set_of("[[:word:]]"), upper = set_of("[[:upper:]]"),
                          lower = set_of("[[:lower:]]"), lone_word = set_of(R"(\w)");
  size_t letter_numbers = 0;
  for (size_t i = 0; i < code_points().size(); ++i) {
    const uint32_t c = code_points()[i];
    const std::string kind = category(c);
    const auto within = [c](uint32_t first, uint32_t last) { return c >= first && c <= last; };
    const auto shown = [&] { return fmt::format("U+{:04X}, {}", c, kind); };
    letter_numbers += kind == "Nl";
    EXPECT_TRUE(alpha[i] || (kind[0] != 'L' && kind != "Nl")) << shown();
    EXPECT_FALSE(alpha[i] && (kind[0] == 'P' || kind[0] == 'Z' || kind == "Nd" || kind == "No")) << shown();
    EXPECT_EQ(alnum[i], alpha[i] || kind == "Nd") << shown();
    EXPECT_EQ(word[i], alnum[i] || kind[0] == 'M' || kind == "Pc") << shown();
    EXPECT_EQ(upper[i], kind == "Lu" || within(0x2160, 0x216F) || within(0x24B6, 0x24CF) ||
                            within(0x1F130, 0x1F149) || within(0x1F150, 0x1F169) || within(0x1F170, 0x1F189))
        << shown();
    EXPECT_EQ(lower[i] && kind != "Ll" && kind != "Lm" && kind != "Mn",
              within(0x2170, 0x217F) || within(0x24D0, 0x24E9) || c == 0xAA || c == 0xBA)
        << shown();
    EXPECT_TRUE(lower[i] || kind != "Ll") << shown();
    // By itself \w also takes Latin-1's other numbers.
    EXPECT_EQ(lone_word[i], word[i] || within(0xB2, 0xB3) || c == 0xB9 || within(0xBC, 0xBE)) << shown();
  }
  EXPECT_GT(letter_numbers, 200u);
  EXPECT_THAT(matches(R"([[:upper:]]|\h)", "eⅧⅷ"), ElementsAre("e", "Ⅷ"));
}

TEST(Oniguruma, TakesLatin1NumbersForWordsOutsideClasses) {
  EXPECT_THAT(matches(R"(\w+)", "a\u0301_٣½ ⅓"), ElementsAre("a\u0301_٣½"));
  EXPECT_THAT(matches(R"([\w]+)", "a½"), ElementsAre("a"));
  EXPECT_THAT(matches(R"([\p{Word}]+)", "a½"), ElementsAre("a"));
  EXPECT_THAT(matches(R"(\p{Word}+)", "a½"), ElementsAre("a½"));
  EXPECT_THAT(matches(R"(\W+)", "a½⅓"), ElementsAre("⅓"));
  EXPECT_THAT(matches(R"([^\w]+)", "a½⅓"), ElementsAre("½⅓"));
  EXPECT_THAT(matches(R"(\b.)", "a½⅓"), ElementsAre("a", "⅓"));
  EXPECT_THAT(matches(R"(\B.)", "a½⅓"), ElementsAre("½"));
}

TEST(Oniguruma, TakesTheScriptOfACharacterNotWhereItIsUsed) {
  EXPECT_THAT(matches(R"(\p{Han}+)", "中、文ー"), ElementsAre("中", "文"));
  EXPECT_THAT(matches(R"([\p{Katakana}]+)", "カー゛"), ElementsAre("カ"));
  EXPECT_THAT(matches(R"(\p{^Hira}+)", "あー"), ElementsAre("ー"));
  EXPECT_THAT(matches(R"(\p{Common}+)", "中、文ー"), ElementsAre("、", "ー"));
}

TEST(Oniguruma, FoldsTheCaseOfClassesOnly) {
  EXPECT_THAT(matches(R"((?i:\p{Lu}a)+)", "ÄAäA"), ElementsAre("ÄA"));
  EXPECT_THAT(matches(R"((?i)[\p{L}]+)", "a\u0345"), ElementsAre("a\u0345"));
  EXPECT_THAT(matches(R"([\p{L}]+(?i:[\p{L}])?)", "a\u0345"), ElementsAre("a\u0345"));
  EXPECT_THAT(matches(R"((?i:a)[\p{L}]+)", "Ab\u0345"), ElementsAre("Ab"));
  // Of these PCRE2 has no class.
  for (const char* folded : {R"((?i:[\p{Lu}]))", R"((?i)([[:lower:]]))", R"((?x-m)(?i)[^\p{Upper}])"})
    EXPECT_FALSE(Regex::compile(folded).has_value()) << folded;
  for (const char* plain : {R"((?-i:[\p{Lu}]))", R"((?i:a)[[:lower:]])", R"(((?i)a)[^\p{Upper}])"})
    EXPECT_TRUE(Regex::compile(plain).has_value()) << plain;
}

TEST(Oniguruma, TellsCharactersOfTheNewestUnicodeApart) {
  // Both are of one kind to patterns, and yet two characters.
  ASSERT_EQ(stand_in(0x1FAE9), 0x1FAE7u);
  std::vector<std::pair<std::string, bool>> parts;
  const Regex literal = Regex::literal("\U0001FAE9");
  const std::string text = "\U0001FAE7\U0001FAE9";
  Regex::Search(literal).for_each(text, [&](size_t begin, size_t end, bool match) {
    parts.emplace_back(text.substr(begin, end - begin), match);
  });
  EXPECT_THAT(parts, ElementsAre(std::pair("\U0001FAE7", false), std::pair("\U0001FAE9", true)));
}

}  // namespace
}  // namespace reprise
