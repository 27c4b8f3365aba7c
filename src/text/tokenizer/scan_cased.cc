// The patterns that cut words before capitals, as GPT-4o's does. With head = [^\r\n\p{L}\p{N}],
// U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and L = [\p{Ll}\p{Lm}\p{Lo}\p{M}]:
//   head?U*L+suffix|head?U+L*suffix|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
// Letters without case and marks are in both sets. U* takes all it can and gives back what L+ needs: so after
// a run of U, L+ goes on where the run ended, or the word ends with the run's last character of both sets,
// or, if it has none, the second alternative takes the run.
#include "text/tokenizer/char_cursor.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

struct Kind {
  bool contractions;      // suffix is (?i:'s|'t|'re|'ve|'m|'ll|'d)?, or else nothing
  int digits;             // in one piece
  bool slashes;           // [\r\n/]*, or else [\r\n]*
  bool ideographs_apart;  // [\p{Han}]+ comes first, and U and L are without \p{Han}
};
constexpr Kind kGpt4o{true, 3, true, false};
constexpr Kind kTekken{false, 1, true, false};
constexpr Kind kKimi{true, 3, false, true};

template <const Kind& kKind>
class Scanner {
 public:
  explicit Scanner(const char* end) : end_(end), reader_(end) {}

  // Past the piece that begins at `p`.
  const char* piece(const char* p) const {
    const Char first = reader_.at(p);
    if (kKind.ideographs_apart && (first.classes & kHan) != 0) return reader_.skip(p + first.length, kHan);
    if ((first.classes & kNumber) != 0) return reader_.skip_digits(p + first.length, kKind.digits);
    if ((first.classes & kLetter) != 0) return word(p);
    if ((first.classes & kNewline) == 0) {
      if (const char* const end = word_after_head(p, first); end != nullptr) return end;
    }
    constexpr FineClass kWordOrSpace = kLetter | kNumber | kSpace;
    const Char next = reader_.at(p + first.length);
    if ((first.classes & kSpace) == 0 ||
        (*p == ' ' && next.length > 0 && (next.classes & kWordOrSpace) == 0)) {
      p = reader_.skip_without(p + first.length, kWordOrSpace);
      while (p < end_ && (*p == '\r' || *p == '\n' || (kKind.slashes && *p == '/'))) ++p;
      return p;
    }
    return reader_.skip_lines_or_spaces(p);
  }

 private:
  using Char = FineReader::Char;

  static bool in_either(FineClass c) {
    return (c & (kLetter | kMark)) != 0 && !(kKind.ideographs_apart && (c & kHan) != 0);
  }
  static bool in_upper(FineClass c) { return in_either(c) && (c & kLower) == 0; }
  static bool in_lower(FineClass c) { return in_either(c) && (c & kUpper) == 0; }

  struct Run {
    const char* end;
    const char* both_end;  // past its last character of both sets; null: it has none
  };
  Run upper_run(const char* p) const {
    Run run{p, nullptr};
    for (;;) {
      const Char c = reader_.at(run.end);
      if (!in_upper(c.classes)) return run;
      run.end += c.length;
      if (in_lower(c.classes)) run.both_end = run.end;
    }
  }
  const char* with_suffix(const char* p) const {
    return kKind.contractions && p < end_ && *p == '\'' ? p + contraction(p, end_, true) : p;
  }
  // Past U*L+ at `p`, or null.
  const char* lower_word(Run run) const {
    const char* const lower_end = reader_.skip_while(run.end, in_lower);
    return lower_end > run.end ? lower_end : run.both_end;
  }

  const char* word(const char* p) const {
    const Run run = upper_run(p);
    const char* const end = lower_word(run);
    return with_suffix(end != nullptr ? end : run.end);
  }
  const char* word_after_head(const char* p, Char head) const {
    const Run run = upper_run(p + head.length);
    if (const char* const end = lower_word(run); end != nullptr) return with_suffix(end);
    if (in_lower(head.classes)) return with_suffix(p + head.length);  // a mark is U*L+ by itself
    return run.end > p + head.length ? with_suffix(run.end) : nullptr;
  }

  const char* const end_;
  const FineReader reader_;
};

template <const Kind& kKind>
void scan(std::string_view text, PieceSink& sink) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const Scanner<kKind> scanner(end);
  while (p < end) {
    const char* const start = p;
    p = scanner.piece(p);
    sink.piece({start, static_cast<size_t>(p - start)});
  }
}

}  // namespace

void scan_gpt4o(std::string_view text, PieceSink& sink) { scan<kGpt4o>(text, sink); }
void scan_tekken(std::string_view text, PieceSink& sink) { scan<kTekken>(text, sink); }
void scan_kimi_k2(std::string_view text, PieceSink& sink) { scan<kKimi>(text, sink); }

}  // namespace reprise
