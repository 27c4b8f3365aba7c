// A regular expression of a tokenizer.json, run by PCRE2. Syntax and meaning are Oniguruma's (its Ruby
// syntax, with Unicode classes), which is what Hugging Face's library runs; see oniguruma.h for what is
// translated.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace reprise {

class Regex {
 public:
  struct Match {
    size_t begin, end;
  };
  // Runs over subjects, one after another, and keeps what a match needs. One thread; must not outlive the
  // Regex.
  class Search {
   public:
    explicit Search(const Regex& regex);
    // The first match at or after `from`; lookbehinds see what is before. `text` is valid UTF-8. The steps
    // and the memory of a match are limited. Once one has passed a limit, this search sees a window of `text`
    // only, which ends 64 KiB after `from`, as if the text ended there; where that passes a limit too,
    // nothing matches any more.
    std::optional<Match> find(std::string_view text, size_t from);
    // Calls on(begin, end, is_match) for the matches and the gaps between them, in order. An empty match is
    // one too, but not where the match before it ends.
    template <typename On>
    void for_each(std::string_view text, On on) {
      const std::optional<std::string> newest = regex_->literal_ ? std::nullopt : with_stand_ins(text);
      for_each_of_known(newest ? *newest : text, on);
    }
    // The same of text that has gone through with_stand_ins().
    template <typename On>
    void for_each_of_known(std::string_view text, On on) {
      size_t from = 0;             // where to look on
      std::optional<size_t> last;  // where the last match ended
      while (from <= text.size()) {
        const auto match = find(text, from);
        if (!match) break;
        if (match->end == match->begin && last == match->end) {
          from += from < text.size() ? utf8_step(text.data() + from, text.data() + text.size()).length : 1;
          continue;
        }
        if (last.value_or(0) < match->begin) on(last.value_or(0), match->begin, false);
        on(match->begin, match->end, true);
        from = match->end;
        last = match->end;
      }
      if (last.value_or(0) < text.size()) on(last.value_or(0), text.size(), false);
    }

   private:
    struct Free {
      void operator()(pcre2_real_match_data_8* data) const;
    };
    const Regex* regex_;
    std::unique_ptr<pcre2_real_match_data_8, Free> data_;
    bool windows_ = false;
  };

  // kUnsupported: not understood (the message says where).
  static Result<Regex> compile(std::string_view pattern);
  static Regex literal(std::string_view text);  // not empty
  std::optional<Match> find(std::string_view text, size_t from) const {
    return Search(*this).find(text, from);
  }
  bool matches(uint32_t character) const;  // somewhere in a text of this one

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  static Result<Regex> compile_pcre2(std::string_view pattern, std::string_view source);
  bool literal_ = false;  // asks for no classes of characters
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace reprise
