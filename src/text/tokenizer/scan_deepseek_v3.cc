// The chain of deepseek-v3: \p{N}{1,3}, then ideographs and kana, then, in each stretch that these have cut,
// which is a text of its own,
//   [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|
//   \s+(?!\S)|\s+
// What none of these takes (control characters, broken UTF-8) is a gap. Numbers are stretches that are gaps;
// among kana are punctuation and characters that are none of all this, but no whitespace.
#include "text/tokenizer/char_cursor.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

constexpr FineClass kEnds = kNumber | kDeepseekKana;  // where a stretch that is neither ends

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Past the piece that begins at `p`; null: none does.
const char* piece(const FineReader& reader, const char* p, const char* end) {
  const FineReader::Char first = reader.at(p);
  if ((first.classes & kNumber) != 0) return reader.skip_digits(p + first.length, 3);
  const FineClass kana = first.classes & kDeepseekKana;  // of the whole stretch
  const auto in_word = [kana](FineClass c) {
    return (c & (kLetter | kMark)) != 0 && (c & kDeepseekKana) == kana;
  };
  const auto in_marks = [kana](FineClass c) {
    return (c & (kPunctuation | kSymbol)) != 0 && (c & kDeepseekKana) == kana;
  };
  const auto past_marks = [&](const char* from) {
    from = reader.skip_while(from, in_marks);
    return kana != 0 ? from : reader.skip(from, kNewline);
  };
  const char* const rest = p + first.length;
  if (in_word(first.classes)) return reader.skip_while(rest, in_word);
  if (in_marks(first.classes)) {
    if (first.length > 1 || rest == end || !is_ascii_letter(*rest)) return past_marks(rest);
    p = rest;
    while (p < end && is_ascii_letter(*p)) ++p;
    return p;
  }
  const FineReader::Char next = reader.at(rest);
  if ((first.classes & kNewline) == 0 && in_word(next.classes)) return reader.skip_while(rest, in_word);
  if (*p == ' ' && in_marks(next.classes)) return past_marks(rest);
  if ((first.classes & kSpace) != 0) return reader.skip_lines_or_spaces(p, kEnds);
  return nullptr;
}

}  // namespace

void scan_deepseek_v3(std::string_view text, PieceSink& sink) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const FineReader reader(end);
  const char* gap = p;  // start of what no pattern has taken
  FineClass gap_kana = 0;
  const auto emit = [&sink](const char* from, const char* to) {
    if (from < to) sink.piece({from, static_cast<size_t>(to - from)});
  };
  while (p < end) {
    const char* next = piece(reader, p, end);
    if (next == nullptr) {
      const FineReader::Char c = reader.at(p);
      const FineClass kana = c.classes & kDeepseekKana;
      if (kana != gap_kana) {
        emit(gap, p);
        gap = p;
        gap_kana = kana;
      }
      p += c.length;
      continue;
    }
    emit(gap, p);
    emit(p, next);
    p = gap = next;
  }
  emit(gap, end);
}

}  // namespace reprise
