// POST /v1/chat/completions: a body to what the template renders and how to generate. Pure functions, any
// thread.
#pragma once

#include <boost/json.hpp>

#include "api/chat_messages.h"
#include "api/generation_fields.h"
#include "base/result.h"
#include "text/chat_template.h"

namespace reprise {

struct ChatRequest {
  GenerationFields fields;  // sampling.logprobs as logprobs and top_logprobs ask
  ChatInput input;          // input.now is left 0
};

struct ChatLimits {
  size_t vocabulary = 0;  // token ids of the model
  TemplateTraits traits;
};

// Errors: kInvalid naming the parameter; kUnsupported for what is well-formed but not offered.
Result<ChatRequest> parse_chat_request(boost::json::object body, const ChatLimits& limits);

// The part of it that /tokenize shares: messages, tools, add_generation_prompt, chat_template_kwargs,
// reasoning_effort. Moves messages out of the body.
Result<ChatInput> parse_chat_input(boost::json::object& body, const TemplateTraits& traits);

}  // namespace reprise
