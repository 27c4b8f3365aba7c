// Tokens as text in answers: a token's bytes may end inside a character, JSON strings may not. Pure, any
// thread.
#pragma once

#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "core/event.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {

// Invalid bytes become U+FFFD, one per maximal invalid part.
std::string to_valid_utf8(std::string_view bytes);
// Code points in valid UTF-8: how clients count text_offset.
size_t count_characters(std::string_view utf8);

// How logprobs name a token.
struct TokenNaming {
  const Tokenizer* tokenizer;
  bool as_ids = false;  // "token_id:42"
};

// Chat shape: {"token", "logprob", "bytes", "top_logprobs": [{"token", "logprob", "bytes"}, ...]}.
boost::json::object chat_logprob(const SampledToken& token, const TokenNaming& naming);

// Completions shape: a token's name is its text, or "bytes:\xe2\x80" when that is no text, so that names stay
// distinct.
std::string completion_token_name(TokenId token, const TokenNaming& naming);

// JSON has no infinity: as OpenAI's servers do, a probability of zero is -9999.
double finite_logprob(float logprob);

}  // namespace reprise
