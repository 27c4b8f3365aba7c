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
  OmittedParts omitted;
};

struct ChatLimits {
  size_t vocabulary = 0;  // token ids of the model
  TemplateTraits traits;
  bool strict_modalities = false;  // content parts that are no text are refused
  SamplingParams sampling = {};    // for what the body leaves out
};

// Errors: kInvalid naming the parameter; kUnsupported for what is well-formed but not offered.
Result<ChatRequest> parse_chat_request(boost::json::object body, const ChatLimits& limits);

// The part of it that /tokenize shares: messages, tools, add_generation_prompt, continue_final_message,
// chat_template_kwargs, reasoning_effort, enable_thinking. Moves messages out of the body.
struct Conversation {
  ChatInput input;
  OmittedParts omitted;
};
Result<Conversation> parse_conversation(boost::json::object& body, const ChatLimits& limits);

}  // namespace reprise
