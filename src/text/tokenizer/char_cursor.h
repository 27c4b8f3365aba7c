// What the scanners share: the class of a character, runs of a class, contractions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/tokenizer/char_class.h"
#include "text/tokenizer/fine_class.h"
#include "text/utf8.h"

namespace reprise {

template <typename Class>
class BasicCharReader {
 public:
  struct Char {
    Class classes = 0;
    uint8_t length = 0;  // bytes; 0 at the end of the text
  };

  explicit BasicCharReader(const char* end) : classes_(table()), end_(end) {}

  Char at(const char* p) const {
    if (p == end_) return {};
    const auto byte = static_cast<uint8_t>(*p);
    if (byte < 0x80) [[likely]]
      return {classes_[byte], 1};
    const Utf8Step step = utf8_step(p, end_);
    return {classes_[step.code_point], step.length};
  }
  // Past the run of characters whose classes pass the test.
  template <typename Test>
  const char* skip_while(const char* p, Test test) const {
    while (p < end_) {
      const auto byte = static_cast<uint8_t>(*p);
      if (byte < 0x80) [[likely]] {
        if (!test(classes_[byte])) return p;
        ++p;
      } else {
        const Char c = at(p);
        if (!test(c.classes)) return p;
        p += c.length;
      }
    }
    return p;
  }
  // Past the run of characters that have one of `wanted`.
  const char* skip(const char* p, Class wanted) const {
    return skip_while(p, [wanted](Class c) { return (c & wanted) != 0; });
  }
  // Past the run of characters that have none of `unwanted`.
  const char* skip_without(const char* p, Class unwanted) const {
    return skip_while(p, [unwanted](Class c) { return (c & unwanted) == 0; });
  }
  // Past \p{N}{1,most}, whose first character ends at `p`.
  const char* skip_digits(const char* p, int most) const {
    for (int i = 1; i < most; ++i) {
      const Char c = at(p);
      if ((c.classes & kNumber) == 0) break;
      p += c.length;
    }
    return p;
  }

  // Past the piece that \s+(?!\S)|\s+ takes at `p`, whose whitespace run ends at `run_end`: before a
  // character the last whitespace is left for the next piece, unless it is the only one.
  static const char* leave_last(const char* p, const char* run_end) {
    const char* last = run_end - 1;
    while ((static_cast<uint8_t>(*last) & 0xC0) == 0x80) --last;
    return last > p ? last : run_end;
  }
  // Past the piece that \s*[\r\n]+|\s+(?!\S)|\s+ takes at `p`, which is whitespace. The text ends where a
  // character of `ends` begins.
  const char* skip_lines_or_spaces(const char* p, Class ends = 0) const {
    const char* const run_end = skip(p, kSpace);
    const char* newline_end = run_end;  // past the last newline of the run
    while (newline_end > p && newline_end[-1] != '\n' && newline_end[-1] != '\r') --newline_end;
    if (newline_end > p) return newline_end;
    return run_end == end_ || (at(run_end).classes & ends) != 0 ? run_end : leave_last(p, run_end);
  }

 private:
  static const Class* table() {
    if constexpr (sizeof(Class) == sizeof(CharClass)) {
      return char_classes().data();
    } else {
      return fine_classes().data();
    }
  }

  const Class* classes_;
  const char* end_;
};

using CharReader = BasicCharReader<CharClass>;
using FineReader = BasicCharReader<FineClass>;

// Length of 's 't 're 've 'm 'll 'd at `p` (which points at the apostrophe), or 0. Without case, the long s
// (U+017F) is an s too.
inline size_t contraction(const char* p, const char* end, bool any_case) {
  const auto left = static_cast<size_t>(end - p);
  const auto letter = [&](size_t i) -> char {
    if (i >= left) return 0;
    const char c = p[i];
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(2) == 'e' ? 3 : 0;
    case 'l':
      return letter(2) == 'l' ? 3 : 0;
    case '\xC5':
      return any_case && letter(2) == '\xBF' ? 3 : 0;
    default:
      return 0;
  }
}

}  // namespace reprise
