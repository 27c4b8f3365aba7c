// The chains of deepseek-coder and deepseek-llm. Within a line the word pattern claims its matches first and
// the mark pattern works in the gaps; since a word's match begins at most one whitespace before its letters,
// one scan from left to right finds both. What neither takes is a gap piece. Every piece is then cut again at
// ideographs and digits.
#include "text/tokenizer/char_cursor.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

struct Kind {
  FineClass word;            // \s?[word]+
  FineClass mark;            // \s?[mark]+
  bool marks_in_words;       // the mark set has ASCII letters (:-~), so that its pattern cuts words as well
  bool cut_trailing_spaces;  // \s+$
};
constexpr Kind kCoder{kLetter, kPunctuation, false, false};
constexpr Kind kLlm{kDeepseekWord, kDeepseekMark, true, true};

template <const Kind& kKind>
class Scanner {
 public:
  Scanner(std::string_view text, PieceSink& sink)
      : p_(text.data()), end_(text.data() + text.size()), reader_(end_), sink_(sink) {}

  void run() {
    const char* gap = p_;  // start of what no pattern has taken
    const auto take = [&](const char* to) {
      refine_gap(gap, p_);
      refine(p_, to);
      p_ = gap = to;
    };
    while (p_ < end_) {
      const FineReader::Char first = reader_.at(p_);
      if ((first.classes & kNewline) != 0) {
        take(p_ + 1);
        continue;
      }
      const bool space = (first.classes & kSpace) != 0;
      const char* const body = space ? p_ + first.length : p_;
      const FineReader::Char c = space ? reader_.at(body) : first;
      if ((c.classes & kKind.word) != 0) {
        take_word(reader_.skip(body + c.length, kKind.word), take);
      } else if ((c.classes & kKind.mark) != 0 && !begins_word(body, c)) {
        take_marks(body, take);
      } else if ((first.classes & kKind.mark) != 0) {
        take_marks(p_, take);
      } else {
        p_ += first.length;
      }
    }
    refine_gap(gap, p_);
  }

 private:
  // The ideographic space is a mark too; before a word it is the word's.
  bool begins_word(const char* p, FineReader::Char c) const {
    return (c.classes & kSpace) != 0 && (reader_.at(p + c.length).classes & kKind.word) != 0;
  }

  template <typename Take>
  void take_word(const char* to, Take take) {
    if constexpr (kKind.marks_in_words) {
      FineReader::Char previous = reader_.at(p_);
      bool joins_next = (previous.classes & (kSpace | kKind.mark)) == kSpace;  // \s? of either pattern
      for (const char* p = p_ + previous.length; p < to; p += previous.length) {
        const FineReader::Char c = reader_.at(p);
        if (((c.classes ^ previous.classes) & kKind.mark) != 0 && !joins_next) take(p);
        joins_next = false;
        previous = c;
      }
    }
    take(to);
  }

  template <typename Take>
  void take_marks(const char* p, Take take) {
    for (;;) {
      const FineReader::Char c = reader_.at(p);
      if ((c.classes & kKind.mark) == 0 || (c.classes & kKind.word) != 0 || begins_word(p, c)) break;
      p += c.length;
    }
    if constexpr (kKind.cut_trailing_spaces) {
      const char* const cut = trailing_spaces(p_, p);
      if (cut > p_) take(cut);
    }
    if (p > p_) take(p);
  }

  void refine_gap(const char* from, const char* to) {
    if constexpr (kKind.cut_trailing_spaces) {
      const char* const cut = trailing_spaces(from, to);
      refine(from, cut);
      refine(cut, to);
    } else {
      refine(from, to);
    }
  }

  // Where the whitespace at the end of [from, to) begins. Whitespace is valid UTF-8, so stepping back over
  // continuation bytes finds its characters.
  const char* trailing_spaces(const char* from, const char* to) const {
    while (to > from) {
      const char* last = to - 1;
      while (last > from && (static_cast<uint8_t>(*last) & 0xC0) == 0x80) --last;
      const FineReader::Char c = reader_.at(last);
      if ((c.classes & kSpace) == 0 || last + c.length != to) break;
      to = last;
    }
    return to;
  }

  // [ideographs]+ and then Digits.
  void refine(const char* from, const char* to) {
    const char* start = from;
    FineClass previous = 0;
    for (const char* p = from; p < to;) {
      const FineReader::Char c = reader_.at(p);
      const bool cut =
          ((c.classes ^ previous) & kDeepseekIdeo) != 0 || ((c.classes | previous) & kDigit) != 0;
      if (cut && p > start) {
        emit(start, p);
        start = p;
      }
      previous = c.classes;
      p += c.length;
    }
    if (to > start) emit(start, to);
  }

  void emit(const char* from, const char* to) { sink_.piece({from, static_cast<size_t>(to - from)}); }

  const char* p_;
  const char* const end_;
  const FineReader reader_;
  PieceSink& sink_;
};

}  // namespace

void scan_deepseek_llm(std::string_view text, PieceSink& sink) { Scanner<kLlm>(text, sink).run(); }
void scan_deepseek_coder(std::string_view text, PieceSink& sink) { Scanner<kCoder>(text, sink).run(); }

}  // namespace reprise
