// Answers of /v1/completions: text_completion objects.
#pragma once

#include "api/answer_format.h"

namespace reprise {

class CompletionFormat final : public AnswerFormat {
 public:
  // `echoes`: the text put before each choice's completion, one a choice; empty when the prompt is not
  // echoed.
  CompletionFormat(AnswerOptions options, std::vector<std::string> echoes)
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
  boost::json::object element(size_t choice, std::string_view text, const Piece& piece) const;
  boost::json::value logprobs(const Piece& piece) const;
  AnswerOptions options_;
  std::vector<std::string> echoes_;
};

}  // namespace reprise
