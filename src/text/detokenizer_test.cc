#include "text/detokenizer.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace reprise {
namespace {

// Tokens are the strings given; an empty one at the end stands for a control token.
class Pieces final : public Tokenizer {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  std::vector<TokenId> encode(std::string_view, EncodeOptions) const override { return {}; }
  std::string_view bytes(TokenId token) const override {
    return is_hidden(token) ? std::string_view("<control>") : pieces_[static_cast<size_t>(token)];
  }
  bool is_hidden(TokenId token) const override { return token == static_cast<TokenId>(pieces_.size()); }
  size_t size() const override { return pieces_.size() + 1; }

 private:
  std::vector<std::string> pieces_;
};

const std::string kReplacement = "\xEF\xBF\xBD";

std::string encoded(uint32_t c) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)),
          byte(0x80 | (c & 63))};
}

// Decoding by the definition: a character where one begins; else one U+FFFD for the longest beginning of any
// character, or for one byte.
class Definition {
 public:
  Definition() {
    for (uint32_t c = 0; c < 0x110000; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      const std::string whole = encoded(c);
      if ((c & 63) != 0 && whole.size() > 1) continue;  // the last byte is free: keep prefixes only
      if (whole.size() == 1) ascii_.insert(whole);
      for (size_t n = 1; n < whole.size(); ++n) prefixes_.insert(whole.substr(0, n));
      if (whole.size() > 1) complete_.insert(whole.substr(0, whole.size() - 1));
    }
  }
  std::string decode(std::string_view bytes) const {
    std::string text;
    for (size_t i = 0; i < bytes.size();) {
      size_t length = 1;
      while (i + length <= bytes.size() && prefixes_.contains(std::string(bytes.substr(i, length)))) ++length;
      const std::string before(bytes.substr(i, length - 1));
      const bool follows = i + length <= bytes.size();
      const bool last_free = follows && (static_cast<uint8_t>(bytes[i + length - 1]) & 0xC0) == 0x80;
      if (length == 1 && ascii_.contains(std::string(bytes.substr(i, 1)))) {
        text += bytes[i++];
      } else if (complete_.contains(before) && last_free) {
        text += bytes.substr(i, length);
        i += length;
      } else {
        text += kReplacement;
        i += std::max<size_t>(length - 1, 1);
      }
    }
    return text;
  }

 private:
  std::set<std::string> ascii_, prefixes_, complete_;
};

std::string detokenized(const std::vector<std::string>& pieces) {
  const Pieces tokenizer(pieces);
  Detokenizer detokenizer(tokenizer);
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) text += detokenizer.push(static_cast<TokenId>(i));
  return text + detokenizer.finish();
}

// The right-hand sides are what Python 3.11's bytes.decode(errors="replace") gives.
TEST(Detokenizer, ReplacesLikePython) {
  const std::string r = kReplacement;
  const std::pair<std::string, std::string> cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", r + r + r + r + r + r + r + r + "A"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", r + r + r + r + r + r + r + r + "A"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", r + r + r + r + r + "A" + r + r + "B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", r + r + r + r + "A"},
      {"\xF0\x9F\x98", r},
      {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
      {"\xF0\x9F\x98\xF0\x9F\x98\x80", r + "\xF0\x9F\x98\x80"},
      {"a\xE4", "a" + r},
  };
  const Definition definition;
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(detokenized({bytes}), text);
    EXPECT_EQ(definition.decode(bytes), text);
  }
}

TEST(Detokenizer, GivesTheSameTextForEveryChunking) {
  const Definition definition;
  std::mt19937 random(6);
  static constexpr std::string_view kBytes =
      "aZ\x80\x8F\x90\x9F\xA0\xBF\xC0\xC2\xC3\xDF\xE0\xE4\xED\xEF\xF0\xF1\xF4\xF5\xFF";
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (size_t n = random() % 12; n > 0; --n) {
      if (random() % 3 == 0) {
        uint32_t c = random() % 0x110000;
        if (c >= 0xD800 && c < 0xE000) c = 0xE000;
        bytes += encoded(c).substr(0, 1 + random() % 4);
      } else {
        bytes += kBytes[random() % kBytes.size()];
      }
    }
    const std::string expected = definition.decode(bytes);
    std::vector<std::string> pieces;
    for (size_t i = 0; i < bytes.size();) {
      const size_t length = random() % 4;  // empty pieces too
      pieces.push_back(bytes.substr(i, length));
      i += length;
    }
    ASSERT_EQ(detokenized(pieces), expected) << testing::PrintToString(bytes);
  }
}

TEST(Detokenizer, HoldsAnUnfinishedCharacterOnly) {
  const Pieces tokenizer({"a\xF0\x9F", "\x98", "\x80z\xE4\xB8", "\xE4", "\xAD"});
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push(0), "a");
  EXPECT_EQ(detokenizer.push(1), "");
  EXPECT_EQ(detokenizer.push(2), "\xF0\x9F\x98\x80z");
  EXPECT_EQ(detokenizer.push(3), kReplacement);  // what was held can no longer become a character
  EXPECT_EQ(detokenizer.finish(), kReplacement);
  EXPECT_EQ(detokenizer.finish(), "");
  EXPECT_EQ(detokenizer.push(4), kReplacement);
}

TEST(Detokenizer, ShowsNoControlTokens) {
  const Pieces tokenizer({"\xC3", "\xA9"});
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push(0), "");
  EXPECT_EQ(detokenizer.push(2), "");
  EXPECT_EQ(detokenizer.push(1), "\xC3\xA9");
}

}  // namespace
}  // namespace reprise
