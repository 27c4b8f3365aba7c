// A chain of regular expressions that cuts text (PretokenizerSpec::chain), run by PCRE2: any pattern, at a
// tenth of a scanner's speed; and the oracle of the scanners in tests.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/pretokenizer.h"

struct pcre2_real_code_8;

namespace reprise {

class RegexChain {
 public:
  static Result<RegexChain> compile(std::span<const std::string> patterns);  // kInternal: a pattern is wrong
  void split(std::string_view text, PieceSink& sink) const;                  // any thread

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  class Run;
  std::vector<std::unique_ptr<pcre2_real_code_8, FreeCode>> codes_;
};

}  // namespace reprise
