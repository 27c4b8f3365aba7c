// The patterns of GPT-2 and GPT-4 and their kin. In both, what follows at a position is decided by the class
// of the character there and of the next one; only whitespace needs its whole run.
#include "text/tokenizer/char_cursor.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// With kDigits, Digits were cut out first: a digit is a piece, and the text before it ends there.
template <bool kDigits>
void scan_gpt2_kind(std::string_view text, PieceSink& sink) {
  constexpr CharClass kNumbers = kDigits ? kDigit : kNumber;
  constexpr CharClass kWordOrSpace = kLetter | kNumbers | kSpace;
  const char* p = text.data();
  const char* const end = p + text.size();
  const CharReader reader(end);
  while (p < end) {
    const char* const start = p;
    const CharReader::Char first = reader.at(p);
    const char* const body = *p == ' ' ? p + 1 : p;  // after the optional space
    const CharReader::Char c = body == p ? first : reader.at(body);
    if (*p == '\'') {
      const size_t length = contraction(p, end, false);
      p = length > 0 ? p + length : reader.skip_without(p + 1, kWordOrSpace);
    } else if ((c.classes & kLetter) != 0) {
      p = reader.skip(body + c.length, kLetter);
    } else if ((c.classes & kNumbers) != 0 && !kDigits) {
      p = reader.skip(body + c.length, kNumbers);
    } else if (c.length > 0 && (c.classes & kWordOrSpace) == 0) {
      p = reader.skip_without(body + c.length, kWordOrSpace);
    } else if (kDigits && (first.classes & kNumbers) != 0) {
      p += first.length;
    } else {
      const char* const run_end = reader.skip(p, kSpace);
      const bool text_ends = run_end == end || (kDigits && (reader.at(run_end).classes & kNumbers) != 0);
      p = text_ends ? run_end : CharReader::leave_last(p, run_end);
    }
    sink.piece({start, static_cast<size_t>(p - start)});
  }
}

// What GPT-4's pattern says of whitespace: \s*[\r\n]+|\s+(?!\S)|\s+
template <typename Reader>
class WholeRuns {
 public:
  explicit WholeRuns(const Reader& reader) : reader_(reader) {}
  const char* skip(const char* p) { return reader_.skip_lines_or_spaces(p); }

 private:
  const Reader& reader_;
};

// \s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|...|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}
// The run is measured once: each piece of a long one would look for its end again.
template <typename Reader>
class PowersOfTwo {
 public:
  explicit PowersOfTwo(const Reader& reader) : reader_(reader) {}
  const char* skip(const char* p) {
    if (p >= run_end_) {
      run_end_ = reader_.skip(p, kSpace);
      const char* newline_end = run_end_;
      while (newline_end > p && newline_end[-1] != '\n' && newline_end[-1] != '\r') --newline_end;
      left_ = 0;
      for (const char* q = newline_end; q < run_end_; q += reader_.at(q).length) ++left_;
      if (newline_end > p) return newline_end;
    }
    const size_t most = left_ - (reader_.at(run_end_).length == 0 ? 0 : 1);  // before (?!\S)
    size_t size = 512;
    while (size > 1 && size > most) size /= 2;
    left_ -= size;
    for (; size > 0; --size) p += reader_.at(p).length;
    return p;
  }

 private:
  const Reader& reader_;
  const char* run_end_ = nullptr;  // of the whitespace that is being cut
  size_t left_ = 0;                // characters of it
};

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[kWord]+|\p{N}{1,kMaxDigits}|
// ?[^\s[kWord]\p{N}]+[\r\n]*|Spaces
// A word's first character may be a mark that is no letter: taken as the one before the word or as its first,
// it is in the same piece.
template <typename Reader, auto kWord, int kMaxDigits, template <typename> typename Spaces = WholeRuns>
void scan_gpt4_kind(std::string_view text, PieceSink& sink) {
  constexpr auto kNoPunctuation = static_cast<decltype(kWord)>(kWord | kNumber | kSpace);
  const char* p = text.data();
  const char* const end = p + text.size();
  const Reader reader(end);
  Spaces<Reader> spaces(reader);
  while (p < end) {
    const char* const start = p;
    const auto first = reader.at(p);
    if ((first.classes & kWord) != 0) {
      p = reader.skip(p + first.length, kWord);
    } else if ((first.classes & kNumber) != 0) {
      p = reader.skip_digits(p + first.length, kMaxDigits);
    } else if (const size_t length = *p == '\'' ? contraction(p, end, true) : 0; length > 0) {
      p += length;
    } else {
      const auto next = reader.at(p + first.length);
      if ((next.classes & kWord) != 0 && (first.classes & kNewline) == 0) {
        p = reader.skip(p + first.length + next.length, kWord);
      } else if ((first.classes & kSpace) == 0 ||
                 (*p == ' ' && next.length > 0 && (next.classes & kNoPunctuation) == 0)) {
        p = reader.skip_without(p + first.length, kNoPunctuation);
        p = reader.skip(p, kNewline);
      } else {
        p = spaces.skip(p);
      }
    }
    sink.piece({start, static_cast<size_t>(p - start)});
  }
}

constexpr FineClass kLetterOrMark = kLetter | kMark;

}  // namespace

void scan_gpt2(std::string_view text, PieceSink& sink) { scan_gpt2_kind<false>(text, sink); }
void scan_smollm(std::string_view text, PieceSink& sink) { scan_gpt2_kind<true>(text, sink); }
void scan_llama3(std::string_view text, PieceSink& sink) {
  scan_gpt4_kind<CharReader, kLetter, 3>(text, sink);
}
void scan_jais2(std::string_view text, PieceSink& sink) {
  scan_gpt4_kind<CharReader, kLetter, 3, PowersOfTwo>(text, sink);
}
void scan_qwen2(std::string_view text, PieceSink& sink) {
  scan_gpt4_kind<CharReader, kLetter, 1>(text, sink);
}
void scan_qwen35(std::string_view text, PieceSink& sink) {
  scan_gpt4_kind<FineReader, kLetterOrMark, 1>(text, sink);
}

}  // namespace reprise
