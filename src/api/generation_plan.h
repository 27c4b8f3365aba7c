// From a parsed request to what the engine and the session need. Pure apart from the model's template and
// tokenizer; any thread.
#pragma once

#include "api/chat_request.h"
#include "api/completion_request.h"
#include "api/loaded_model.h"
#include "api/session.h"
#include "http/exchange.h"

namespace reprise {

struct PlanOptions {
  bool strict_model = false;
  bool strict_modalities = false;
  Nanos keep_alive = 10 * kSecond;
};

// The body of a request to /v1/chat/completions or /v1/completions, all the way: JSON, fields, template,
// tokens, room in the context. Every error is the client's. `session` is session_key's input from the
// headers.
Result<SessionJob> plan_chat(const http::Request& request, const LoadedModel& model,
                             const PlanOptions& options);
Result<SessionJob> plan_completion(const http::Request& request, const LoadedModel& model,
                                   const PlanOptions& options);

// The conversation as the model reads it. kUnsupported: the model has no template. `input.now` is set here.
Result<std::vector<TokenId>> chat_tokens(ChatInput input, const LoadedModel& model);

// kNotFound unless `name` is the model's, is empty, or any name will do.
Result<void> check_model_name(const std::string& name, const LoadedModel& model, bool strict);

}  // namespace reprise
