// The line is cut into chunks (runs of white space, words, parts of words that end in a hyphen), and lines
// are filled with chunks greedily; white space at the border of two lines is dropped. Where a word is too
// long for any line and the line before it is just full, an empty part of the word ends that line, so that
// white space before it stays.
#include "text/jinja/word_wrap.h"

#include <algorithm>

#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

bool is_space(std::string_view s, size_t i) {
  return std::string_view("\t\n\v\f\r ").find(s[i]) != std::string_view::npos;
}

bool is_blank(std::string_view chunk) { return unicode::strip_left(chunk).empty(); }

bool is_letter(char32_t c) { return unicode::is_word(c) && !unicode::is_numeric(c) && c != '_'; }

// Whether a word may be broken after the hyphen before byte `i`: letters around it, two before.
bool breaks_after_hyphen(std::string_view word, size_t i) {
  if (i < 3 || i >= word.size() || word[i - 1] != '-') return false;
  const auto letter_before = [&](size_t end) {
    size_t k = end - 1;
    while (k > 0 && (static_cast<unsigned char>(word[k]) & 0xC0) == 0x80) --k;
    return is_letter(unicode::decode(word, k)) ? k : std::string_view::npos;
  };
  const size_t one = letter_before(i - 1);
  if (one == std::string_view::npos || one == 0) return false;
  const bool hyphen_between = word[one - 1] == '-';
  if (hyphen_between && one < 2) return false;
  if (letter_before(hyphen_between ? one - 1 : one) == std::string_view::npos) return false;
  if (!is_letter(unicode::decode(word, i))) return false;
  size_t after = unicode::next(word, i);
  if (after < word.size() && word[after] == '-') ++after;
  return after < word.size() && is_letter(unicode::decode(word, after));
}

std::vector<std::string_view> chunks_of(std::string_view line, bool break_on_hyphens) {
  std::vector<std::string_view> chunks;
  for (size_t i = 0; i < line.size();) {
    const bool space = is_space(line, i);
    size_t end = i;
    while (end < line.size() && is_space(line, end) == space) ++end;
    const std::string_view run = line.substr(i, end - i);
    size_t start = 0;
    if (!space && break_on_hyphens) {
      for (size_t k = 1; k < run.size(); ++k) {
        if (breaks_after_hyphen(run, k)) {
          chunks.push_back(run.substr(start, k - start));
          start = k;
        }
      }
    }
    chunks.push_back(run.substr(start));
    i = end;
  }
  return chunks;
}

}  // namespace

std::vector<std::string> wrap_line(std::string_view line, size_t width, bool break_long_words,
                                   bool break_on_hyphens) {
  std::vector<std::string_view> chunks = chunks_of(line, break_on_hyphens);
  std::ranges::reverse(chunks);  // taken from the back
  std::vector<std::string> lines;
  while (!chunks.empty()) {
    if (!lines.empty() && is_blank(chunks.back())) chunks.pop_back();
    std::vector<std::string_view> taken;
    size_t length = 0;
    while (!chunks.empty() && length + unicode::length(chunks.back()) <= width) {
      length += unicode::length(chunks.back());
      taken.push_back(chunks.back());
      chunks.pop_back();
    }
    if (!chunks.empty() && unicode::length(chunks.back()) > width) {
      std::string_view& word = chunks.back();
      if (break_long_words) {
        const size_t room = width - length;
        size_t cut = unicode::offset(word, room);
        if (break_on_hyphens && unicode::length(word) > room) {
          const size_t hyphen = word.substr(0, cut).rfind('-');
          if (hyphen != std::string_view::npos && hyphen > 0 &&
              word.substr(0, hyphen).find_first_not_of('-') != std::string_view::npos) {
            cut = hyphen + 1;
          }
        }
        taken.push_back(word.substr(0, cut));
        word.remove_prefix(cut);
      } else if (taken.empty()) {
        taken.push_back(word);
        chunks.pop_back();
      }
    }
    if (!taken.empty() && is_blank(taken.back())) taken.pop_back();
    if (taken.empty()) continue;
    std::string& text = lines.emplace_back();
    for (const std::string_view chunk : taken) text += chunk;
  }
  return lines;
}

}  // namespace reprise::jinja
