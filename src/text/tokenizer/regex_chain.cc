// Design: one JIT-compiled program per pattern; a piece that pattern i cuts goes on to pattern i + 1 as a
// subject of its own. Broken UTF-8 is matched on a shadow text in which each invalid part is U+10FFFF, a code
// point of no class, with a map back to the original offsets. A match that exceeds PCRE2's own limits counts
// as no match: the rest stays one piece.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/tokenizer/regex_chain.h"

#include <pcre2.h>

#include "base/check.h"
#include "text/utf8.h"

namespace reprise {
namespace {

constexpr std::string_view kNoClass = "\xF4\x8F\xBF\xBF";  // U+10FFFF

// PCRE2's \s leaves out no White_Space but adds U+180E; the tokenizers' libraries mean the property.
std::string with_white_space_property(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    ++i;
    if (pattern[i] == 's') {
      out += R"(\p{White_Space})";
    } else if (pattern[i] == 'S') {
      out += R"(\P{White_Space})";
    } else {
      out += pattern.substr(i - 1, 2);
    }
  }
  return out;
}

struct Shadow {
  std::string text;
  std::vector<size_t> origin;  // of each byte of `text`, and of its end
};

bool is_valid_utf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Utf8Step step = utf8_step(p, end);
    if (step.code_point == Utf8Step::kBroken) return false;
    p += step.length;
  }
  return true;
}

Shadow make_shadow(std::string_view text) {
  Shadow shadow;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Utf8Step step = utf8_step(p, end);
    shadow.text += step.code_point == Utf8Step::kBroken ? kNoClass : std::string_view(p, step.length);
    shadow.origin.resize(shadow.text.size(), static_cast<size_t>(p - text.data()));
    p += step.length;
  }
  shadow.origin.push_back(text.size());
  return shadow;
}

}  // namespace

void RegexChain::FreeCode::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Result<RegexChain> RegexChain::compile(std::span<const std::string> patterns) {
  RegexChain chain;
  for (const std::string& source : patterns) {
    const std::string pattern = with_white_space_property(source);
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
    if (code == nullptr) {
      return fail(ErrorKind::kInternal, "pre-tokenizer pattern {}: PCRE2 error {} at offset {}", pattern,
                  error, offset);
    }
    chain.codes_.emplace_back(code);
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // without JIT support the interpreter matches the same
  }
  return chain;
}

class RegexChain::Run {
 public:
  // `origin` maps offsets of `subject` to `text`; empty where they are the same.
  Run(const RegexChain& chain, std::string_view text, std::string_view subject,
      std::span<const size_t> origin, PieceSink& sink)
      : chain_(chain), text_(text), subject_(subject), origin_(origin), sink_(sink) {
    for (const auto& code : chain.codes_)
      matches_.emplace_back(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  }

  // Cuts subject_[begin, end) by the patterns from `level` on.
  void cut(size_t level, size_t begin, size_t end) {
    if (begin == end) return;
    if (level == chain_.codes_.size()) {
      const size_t from = origin_.empty() ? begin : origin_[begin];
      const size_t to = origin_.empty() ? end : origin_[end];
      sink_.piece(text_.substr(from, to - from));
      return;
    }
    const auto* piece = reinterpret_cast<PCRE2_SPTR>(subject_.data() + begin);
    size_t gap = 0;
    while (gap < end - begin) {
      const int found = pcre2_match(chain_.codes_[level].get(), piece, end - begin, gap, PCRE2_NO_UTF_CHECK,
                                    matches_[level].get(), nullptr);
      if (found < 0) break;
      const PCRE2_SIZE* at = pcre2_get_ovector_pointer(matches_[level].get());
      const size_t from = at[0];
      const size_t to = at[1];
      CHECK(to > from, "a pre-tokenizer pattern matches nothing");
      cut(level + 1, begin + gap, begin + from);
      cut(level + 1, begin + from, begin + to);
      gap = to;
    }
    cut(level + 1, begin + gap, end);
  }

 private:
  struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  const RegexChain& chain_;
  std::string_view text_;
  std::string_view subject_;
  std::span<const size_t> origin_;
  PieceSink& sink_;
  std::vector<std::unique_ptr<pcre2_match_data, FreeMatch>> matches_;
};

void RegexChain::split(std::string_view text, PieceSink& sink) const {
  if (is_valid_utf8(text)) {
    Run(*this, text, text, {}, sink).cut(0, 0, text.size());
  } else {
    const Shadow shadow = make_shadow(text);
    Run(*this, text, shadow.text, shadow.origin, sink).cut(0, 0, shadow.text.size());
  }
}

}  // namespace reprise
