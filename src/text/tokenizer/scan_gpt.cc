// The patterns of GPT-2 and GPT-4 and their kin. In both, what follows at a position is decided by the class
// of the character there and of the next one; only whitespace needs its whole run.
#include "text/tokenizer/char_cursor.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

constexpr CharClass kWordOrSpace = kLetter | kNumber | kSpace;

// Length of 's 't 're 've 'm 'll 'd at `p` (which points at the apostrophe), or 0. Without case, the long s
// (U+017F) is an s too.
size_t contraction(const char* p, const char* end, bool any_case) {
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

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// With kDigits, \p{N} was cut out first: a digit is a piece, and the text before it ends there.
template <bool kDigits>
void scan_gpt2_kind(std::string_view text, PieceSink& sink) {
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
    } else if ((c.classes & kNumber) != 0 && !kDigits) {
      p = reader.skip(body + c.length, kNumber);
    } else if (c.length > 0 && (c.classes & kWordOrSpace) == 0) {
      p = reader.skip_without(body + c.length, kWordOrSpace);
    } else if (kDigits && (first.classes & kNumber) != 0) {
      p += first.length;
    } else {
      const char* const run_end = reader.skip(p, kSpace);
      const bool text_ends = run_end == end || (kDigits && (reader.at(run_end).classes & kNumber) != 0);
      p = text_ends ? run_end : CharReader::leave_last(p, run_end);
    }
    sink.piece({start, static_cast<size_t>(p - start)});
  }
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,kMaxDigits}|
// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
template <int kMaxDigits>
void scan_gpt4_kind(std::string_view text, PieceSink& sink) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const CharReader reader(end);
  while (p < end) {
    const char* const start = p;
    const CharReader::Char first = reader.at(p);
    if ((first.classes & kLetter) != 0) {
      p = reader.skip(p + first.length, kLetter);
    } else if ((first.classes & kNumber) != 0) {
      p += first.length;
      for (int i = 1; i < kMaxDigits; ++i) {
        const CharReader::Char c = reader.at(p);
        if ((c.classes & kNumber) == 0) break;
        p += c.length;
      }
    } else if (const size_t length = *p == '\'' ? contraction(p, end, true) : 0; length > 0) {
      p += length;
    } else {
      const CharReader::Char next = reader.at(p + first.length);
      if ((next.classes & kLetter) != 0 && (first.classes & kNewline) == 0) {
        p = reader.skip(p + first.length + next.length, kLetter);
      } else if ((first.classes & kSpace) == 0 ||
                 (*p == ' ' && next.length > 0 && (next.classes & kWordOrSpace) == 0)) {
        p = reader.skip_without(p + first.length, kWordOrSpace);
        p = reader.skip(p, kNewline);
      } else {
        const char* const run_end = reader.skip(p, kSpace);
        const char* newline_end = run_end;  // past the last newline of the run
        while (newline_end > p && newline_end[-1] != '\n' && newline_end[-1] != '\r') --newline_end;
        if (newline_end > p) {
          p = newline_end;
        } else {
          p = run_end == end ? run_end : CharReader::leave_last(p, run_end);
        }
      }
    }
    sink.piece({start, static_cast<size_t>(p - start)});
  }
}

}  // namespace

void scan_gpt2(std::string_view text, PieceSink& sink) { scan_gpt2_kind<false>(text, sink); }
void scan_smollm(std::string_view text, PieceSink& sink) { scan_gpt2_kind<true>(text, sink); }
void scan_llama3(std::string_view text, PieceSink& sink) { scan_gpt4_kind<3>(text, sink); }
void scan_qwen2(std::string_view text, PieceSink& sink) { scan_gpt4_kind<1>(text, sink); }

}  // namespace reprise
