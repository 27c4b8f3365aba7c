// A model's answer, token by token, as reasoning, content and tool calls.
//
// How a model writes them is its family's (tool_calls/): found by its chat template, or named. However the
// tokens come, the deltas joined are the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/detokenizer.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tool_calls/answer_sink.h"
#include "text/tool_calls/family.h"

namespace reprise {

using calls::AnswerDelta;
using calls::Tools;

// A family as one model's vocabulary spells it. Immutable; shared by all answers.
class AnswerStyle {
 public:
  // `family`: its name, "auto" for the one that the template shows, or "none". A template that shows none,
  // and "none", give a style without markup: everything is content. Errors: kNotFound for a name that is
  // none, listing those there are.
  static Result<AnswerStyle> create(std::string_view family, std::string_view chat_template,
                                    const Tokenizer& tokenizer);

  std::string_view family() const { return family_ ? family_->name : "none"; }
  // The names that create() knows, for --help.
  static std::string names();

  // Whether a prompt of this text ends inside of reasoning, so that the answer begins with it.
  bool ends_in_reasoning(std::string_view prompt) const;
  // The tokens that end reasoning, for a budget; empty where the family has no such text.
  const std::vector<TokenId>& reasoning_end() const { return reasoning_end_; }

 private:
  friend class AnswerParser;
  const calls::Family* family_ = nullptr;
  calls::Markers markers_;
  std::vector<TokenId> tokens_;            // that are markers
  std::vector<TokenId> reasoning_tokens_;  // the part of them that counts where no tools are offered
  std::vector<TokenId> reasoning_end_;
};

class AnswerParser {
 public:
  // `style`, `tokenizer` and `tools` must outlive it. Without tools, what looks like a call is content.
  AnswerParser(const AnswerStyle& style, const Tokenizer& tokenizer, const Tools& tools, bool in_reasoning);
  ~AnswerParser();
  AnswerParser(AnswerParser&&) noexcept;
  AnswerParser& operator=(AnswerParser&&) noexcept;

  // What became certain with this token.
  std::vector<AnswerDelta> push(TokenId token);
  // The rest, when the answer has ended: `stopped` by the model itself, not by a limit.
  std::vector<AnswerDelta> finish(bool stopped);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise
