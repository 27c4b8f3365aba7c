// Design: a piece that pattern i cuts goes on to pattern i + 1 as a subject of its own. Broken UTF-8 is
// matched on a shadow text in which each invalid part is U+10FFFF, a code point of no class, with a map back
// to the original offsets.
#include "text/tokenizer/regex_chain.h"

#include "text/utf8.h"

namespace reprise {
namespace {

constexpr std::string_view kNoClass = "\xF4\x8F\xBF\xBF";  // U+10FFFF

struct Shadow {
  std::string text;
  std::vector<size_t> origin;  // of each byte of `text`, and of its end
};

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

Result<RegexChain> RegexChain::compile(std::span<const std::string> patterns) {
  RegexChain chain;
  for (const std::string& pattern : patterns) {
    if (const auto digits = DigitGroups::of(pattern)) {
      chain.patterns_.emplace_back(*digits);
    } else {
      chain.patterns_.emplace_back(TRY(Regex::compile(pattern)));
    }
  }
  return chain;
}

class RegexChain::Run {
 public:
  // `subject` has gone through with_stand_ins(); `origin` maps its offsets to `text`, empty where they are
  // the same.
  Run(const RegexChain& chain, std::string_view text, std::string_view subject,
      std::span<const size_t> origin, PieceSink& sink)
      : text_(text), subject_(subject), origin_(origin), sink_(sink) {
    for (const auto& pattern : chain.patterns_) {
      if (const auto* digits = std::get_if<DigitGroups>(&pattern)) {
        searches_.emplace_back(*digits);
      } else {
        searches_.emplace_back(Regex::Search(std::get<Regex>(pattern)));
      }
    }
  }

  // Cuts subject_[begin, end) by the patterns from `level` on.
  void cut(size_t level, size_t begin, size_t end) {
    if (begin == end) return;
    if (level == searches_.size()) {
      const size_t from = origin_.empty() ? begin : origin_[begin];
      const size_t to = origin_.empty() ? end : origin_[end];
      sink_.piece(text_.substr(from, to - from));
      return;
    }
    const std::string_view piece = subject_.substr(begin, end - begin);
    const auto on = [&](size_t from, size_t to, bool) { cut(level + 1, begin + from, begin + to); };
    if (auto* search = std::get_if<Regex::Search>(&searches_[level])) {
      search->for_each_of_known(piece, on);
    } else {
      std::get<DigitGroups>(searches_[level]).for_each(piece, on);
    }
  }

 private:
  std::string_view text_;
  std::string_view subject_;
  std::span<const size_t> origin_;
  PieceSink& sink_;
  std::vector<std::variant<Regex::Search, DigitGroups>> searches_;
};

void RegexChain::split(std::string_view text, PieceSink& sink) const {
  Shadow shadow;
  if (!is_utf8(text)) shadow = make_shadow(text);
  const std::string_view valid = shadow.origin.empty() ? text : shadow.text;
  const std::optional<std::string> known = with_stand_ins(valid);
  Run(*this, text, known ? *known : valid, shadow.origin, sink).cut(0, 0, valid.size());
}

}  // namespace reprise
