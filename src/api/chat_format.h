// Answers of /v1/chat/completions: chat.completion and chat.completion.chunk objects.
#pragma once

#include "api/answer_format.h"

namespace reprise {

class ChatFormat final : public AnswerFormat {
 public:
  explicit ChatFormat(AnswerOptions options) : options_(options) {}
  bool shows_tokens() const override { return options_.logprobs || options_.token_ids; }
  std::string_view id_prefix() const override { return "chatcmpl-"; }
  std::string_view whole_object() const override { return "chat.completion"; }
  std::string_view stream_object() const override { return "chat.completion.chunk"; }

  std::optional<boost::json::object> opening(size_t choice) const override;
  boost::json::object chunk(size_t choice, const Piece& piece) const override;
  boost::json::object closing(size_t choice, const Choice& ended) const override;
  boost::json::object whole(size_t choice, const Piece& all, const Choice& ended) const override;

 private:
  boost::json::value logprobs(const Piece& piece) const;
  AnswerOptions options_;
};

}  // namespace reprise
