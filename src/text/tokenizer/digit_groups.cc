#include "text/tokenizer/digit_groups.h"

#include <utf8proc.h>

#include "text/tokenizer/regex.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise {
namespace {

// Where a run of decimal digits that begins at `begin` ends, and how many there are.
struct DigitRun {
  size_t end;
  size_t count;
};

DigitRun run_of_digits(std::string_view text, size_t begin) {
  DigitRun run{begin, 0};
  while (run.end < text.size()) {
    const Utf8Step step = utf8_step(text.data() + run.end, text.data() + text.size());
    if (utf8proc_category(static_cast<utf8proc_int32_t>(stand_in(step.code_point))) != UTF8PROC_CATEGORY_ND)
      break;
    run.end += step.length;
    ++run.count;
  }
  return run;
}

// A letter or the like, which makes no edge of a word with a digit.
bool is_word_character(uint32_t c) {
  static const Regex pattern = Regex::compile(R"(\w)").value();
  return pattern.matches(c);
}

size_t step_over(std::string_view text, size_t at, size_t characters) {
  for (; characters > 0; --characters) at += utf8_step(text.data() + at, text.data() + text.size()).length;
  return at;
}

}  // namespace

std::optional<DigitGroups> DigitGroups::of(std::string_view pattern) {
  if (pattern == R"(\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!\p{Nd})))") return DigitGroups(Kind::kGroups);
  if (pattern == R"(\d{1,3}(?=(?:\d{3})*\b))") return DigitGroups(Kind::kWholeWords);
  if (pattern == R"((?=(\d{3})+(?!\d)))") return DigitGroups(Kind::kCuts);
  return std::nullopt;
}

void DigitGroups::for_each(std::string_view text, const std::function<void(size_t, size_t, bool)>& on) const {
  size_t gap = 0;
  const auto match = [&](size_t begin, size_t end) {
    if (gap < begin) on(gap, begin, false);
    on(begin, end, true);
    gap = end;
  };
  for (size_t at = 0; at < text.size();) {
    const DigitRun run = run_of_digits(text, at);
    if (run.count == 0) {
      at = step_over(text, at, 1);
      continue;
    }
    const bool joined =
        kind_ == Kind::kWholeWords && run.end < text.size() &&
        is_word_character(utf8_step(text.data() + run.end, text.data() + text.size()).code_point);
    if (joined) {
      at = run.end;
      continue;
    }
    for (size_t left = run.count; left > 0;) {
      const size_t size = left % 3 == 0 ? 3 : left % 3;
      const size_t end = step_over(text, at, size);
      if (kind_ != Kind::kCuts) {
        match(at, end);
      } else if (left % 3 == 0) {
        match(at, at);
      }
      at = end;
      left -= size;
    }
  }
  if (gap < text.size()) on(gap, text.size(), false);
}

}  // namespace reprise
