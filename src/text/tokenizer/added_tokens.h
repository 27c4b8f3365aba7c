// Tokens that are found in text before anything else is done with it, as Hugging Face's added tokens are:
// control tokens, and words that the pre-tokenizer must not cut.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/token.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/special_matcher.h"

namespace reprise {

struct AddedToken {
  std::string text;  // not empty
  TokenId id = -1;
  bool control = false;      // shapes the conversation: text that the user gave never becomes it
  bool hidden = false;       // not shown when decoded ("special")
  bool single_word = false;  // not where a word character touches it
  bool lstrip = false;       // takes the whitespace before it along
  bool rstrip = false;
  bool normalized = false;  // its normalized text is looked for in the normalized text
};

class AddedTokens {
 public:
  enum class Stage {
    kText,            // tokens that are looked for as they are
    kTextAndControl,  // and, as they are, control tokens that kNormalizedText would find
    kNormalizedText,
  };
  struct Part {
    std::string_view text;
    TokenId token;  // -1: text between tokens, never empty
  };
  // May the control token at [begin, end) be one?
  using MayControl = std::function<bool(size_t begin, size_t end)>;

  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  // Cuts `text`: calls part(Part) in order. Of the tokens that start first the longest is taken; whitespace
  // taken along belongs to the token's part. Any thread.
  template <typename OnPart>
  void split(Stage stage, std::string_view text, const MayControl& may_control, OnPart part) const {
    const SpecialMatcher& matcher = matchers_[static_cast<size_t>(stage)];
    const auto accept = [&](const SpecialMatcher::Match& match) {
      return !tokens_[static_cast<size_t>(match.value)].control || may_control(match.begin, match.end);
    };
    size_t done = 0;  // what has been given out
    size_t from = 0;  // where to look on: not past whitespace that a token took along
    while (const auto match = matcher.find(text, from, accept)) {
      from = match->end;
      const AddedToken& token = tokens_[static_cast<size_t>(match->value)];
      size_t begin = match->begin;
      size_t end = match->end;
      if (token.single_word && !stands_alone(text, begin, end)) continue;
      if (token.lstrip) begin = std::max(begin_of_spaces(text, begin), done);
      if (token.rstrip) end = end_of_spaces(text, end);
      if (done < begin) part(Part{text.substr(done, begin - done), -1});
      part(Part{text.substr(begin, end - begin), token.id});
      done = end;
    }
    if (done < text.size()) part(Part{text.substr(done), -1});
  }
  bool holds(TokenId token) const {  // by looking at each
    return std::ranges::find(tokens_, token, &AddedToken::id) != tokens_.end();
  }
  bool empty(Stage stage) const { return matchers_[static_cast<size_t>(stage)].empty(); }

 private:
  static bool stands_alone(std::string_view text, size_t begin, size_t end);
  static size_t begin_of_spaces(std::string_view text, size_t end);
  static size_t end_of_spaces(std::string_view text, size_t begin);

  std::vector<AddedToken> tokens_;
  SpecialMatcher matchers_[3];  // by stage; values are indices of tokens_
};

}  // namespace reprise
