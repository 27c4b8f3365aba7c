// What the scanners share: the class of a character and runs of a class.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/tokenizer/char_class.h"
#include "text/utf8.h"

namespace reprise {

class CharReader {
 public:
  struct Char {
    CharClass classes = 0;
    uint8_t length = 0;  // bytes; 0 at the end of the text
  };

  explicit CharReader(const char* end) : classes_(char_classes().data()), end_(end) {}

  Char at(const char* p) const {
    if (p == end_) return {};
    const auto byte = static_cast<uint8_t>(*p);
    if (byte < 0x80) [[likely]]
      return {classes_[byte], 1};
    const Utf8Step step = utf8_step(p, end_);
    return {classes_[step.code_point], step.length};
  }
  // Past the run of characters that have one of `wanted`.
  const char* skip(const char* p, CharClass wanted) const {
    return skip_while(p, [wanted](CharClass c) { return (c & wanted) != 0; });
  }
  // Past the run of characters that have none of `unwanted`.
  const char* skip_without(const char* p, CharClass unwanted) const {
    return skip_while(p, [unwanted](CharClass c) { return (c & unwanted) == 0; });
  }

  // Past the piece that \s+(?!\S)|\s+ takes at `p`, whose whitespace run ends at `run_end`: before a
  // character the last whitespace is left for the next piece, unless it is the only one.
  static const char* leave_last(const char* p, const char* run_end) {
    const char* last = run_end - 1;
    while ((static_cast<uint8_t>(*last) & 0xC0) == 0x80) --last;
    return last > p ? last : run_end;
  }

 private:
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

  const CharClass* classes_;
  const char* end_;
};

}  // namespace reprise
