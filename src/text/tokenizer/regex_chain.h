// A chain of regular expressions that cuts text run by PCRE2: any pattern, at a
// tenth of a scanner's speed; and the oracle of the scanners in tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/digit_groups.h"
#include "text/tokenizer/piece_sink.h"
#include "text/tokenizer/regex.h"

namespace reprise {

class RegexChain {
 public:
  static Result<RegexChain> compile(std::span<const std::string> patterns);
  void split(std::string_view text, PieceSink& sink) const;  // any thread

 private:
  class Run;
  std::vector<std::variant<Regex, DigitGroups>> patterns_;
};

}  // namespace reprise
