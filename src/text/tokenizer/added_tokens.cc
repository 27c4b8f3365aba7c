// Design: one trie a stage. What a word character is (\w of Rust's regex) needs properties that only PCRE2's
// tables have, so that rare question is asked there.
#include "text/tokenizer/added_tokens.h"

#include "text/tokenizer/char_class.h"
#include "text/tokenizer/regex.h"
#include "text/utf8.h"

namespace reprise {
namespace {

size_t begin_of_last(std::string_view text, size_t end) {  // of the character that ends at `end` > 0
  size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) --begin;
  return begin;
}

bool is_one_space(std::string_view text, size_t at, size_t end) {
  const Utf8Step step = utf8_step(text.data() + at, text.data() + end);
  return at + step.length == end && is_space(step.code_point);
}

bool is_word_character(uint32_t c) {
  static const Regex pattern = Regex::compile(R"([\w\x{200C}\x{200D}])").value();
  return c != Utf8Step::kBroken && pattern.matches(c);
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer)
    : tokens_(std::move(tokens)) {
  std::vector<std::string> normalized(tokens_.size());
  std::vector<SpecialMatcher::Entry> entries[3];
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    const auto index = static_cast<int32_t>(i);
    if (token.normalized) {
      normalized[i] = normalizer(token.text);
      if (!normalized[i].empty())
        entries[static_cast<size_t>(Stage::kNormalizedText)].push_back({normalized[i], index});
    } else {
      entries[static_cast<size_t>(Stage::kText)].push_back({token.text, index});
    }
    if (!token.normalized || token.control)
      entries[static_cast<size_t>(Stage::kTextAndControl)].push_back({token.text, index});
  }
  for (size_t stage = 0; stage < 3; ++stage) matchers_[stage] = SpecialMatcher(std::move(entries[stage]));
}

bool AddedTokens::stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0) {
    const char* const last = text.data() + begin_of_last(text, begin);
    if (is_word_character(utf8_step(last, text.data() + begin).code_point)) return false;
  }
  if (end < text.size()) {
    const Utf8Step step = utf8_step(text.data() + end, text.data() + text.size());
    if (is_word_character(step.code_point)) return false;
  }
  return true;
}

size_t AddedTokens::begin_of_spaces(std::string_view text, size_t end) {
  while (end > 0) {
    const size_t last = begin_of_last(text, end);
    if (!is_one_space(text, last, end)) break;
    end = last;
  }
  return end;
}

size_t AddedTokens::end_of_spaces(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const Utf8Step step = utf8_step(text.data() + begin, text.data() + text.size());
    if (!is_one_space(text, begin, begin + step.length)) break;
    begin += step.length;
  }
  return begin;
}

}  // namespace reprise
