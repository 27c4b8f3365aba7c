#include "text/tokenizer/special_matcher.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace reprise {
namespace {

std::optional<SpecialMatcher::Match> by_definition(const std::vector<std::string>& texts,
                                                   std::string_view text, size_t from) {
  for (size_t begin = from; begin < text.size(); ++begin) {
    std::optional<SpecialMatcher::Match> longest;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!text.substr(begin).starts_with(texts[i])) continue;
      if (!longest || begin + texts[i].size() > longest->end) {
        longest = {begin, begin + texts[i].size(), static_cast<int32_t>(i)};
      }
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

TEST(SpecialMatcher, FindsLeftmostLongest) {
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> texts;
    std::vector<SpecialMatcher::Entry> entries;
    for (size_t n = random() % 6; n > 0; --n) {
      std::string text;
      for (size_t i = 1 + random() % 4; i > 0; --i) text += "<|\xFF"[random() % 3];
      texts.push_back(text);
    }
    for (size_t i = 0; i < texts.size(); ++i) entries.push_back({texts[i], static_cast<int32_t>(i)});
    const SpecialMatcher matcher(entries);
    std::string text;
    for (size_t i = random() % 30; i > 0; --i) text += "<|\xFF"[random() % 3];
    for (size_t from = 0; from <= text.size(); ++from) {
      const auto found = matcher.find(text, from);
      const auto expected = by_definition(texts, text, from);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (!found) continue;
      EXPECT_EQ(found->begin, expected->begin);
      EXPECT_EQ(found->end, expected->end);
      EXPECT_EQ(found->value, expected->value);  // of equal texts the first
    }
  }
}

}  // namespace
}  // namespace reprise
