// Answers of /v1/completions: text_completion objects.
#pragma once

#include <memory>
#include <vector>

#include "api/answer_format.h"
#include "api/prompt_echo.h"

namespace reprise {

class CompletionFormat final : public AnswerFormat {
 public:
  // `echoes`: the prompt put before each choice's completion, one a choice; empty when it is not echoed.
  CompletionFormat(AnswerOptions options, std::vector<std::shared_ptr<const PromptEcho>> echoes)
      : options_(options), echoes_(std::move(echoes)) {}
  bool shows_tokens() const override { return options_.logprobs || options_.token_ids; }
  std::string_view id_prefix() const override { return "cmpl-"; }
  std::string_view whole_object() const override { return "text_completion"; }
  std::string_view stream_object() const override { return "text_completion"; }

  std::optional<boost::json::object> opening(size_t choice) const override;
  boost::json::object chunk(size_t choice, const Piece& piece) const override;
  boost::json::object closing(size_t choice, const Choice& ended) const override;
  boost::json::object whole(size_t choice, const Piece& all, const Choice& ended) const override;

 private:
  const PromptEcho* echo_of(size_t choice) const { return echoes_.empty() ? nullptr : echoes_[choice].get(); }
  // `opens`: the prompt's first token, which has no log-probability, comes before the piece's.
  boost::json::object element(size_t choice, std::string_view text, const Piece& piece, bool opens) const;
  boost::json::value logprobs(size_t choice, const Piece& piece, bool opens) const;
  AnswerOptions options_;
  std::vector<std::shared_ptr<const PromptEcho>> echoes_;
};

}  // namespace reprise
