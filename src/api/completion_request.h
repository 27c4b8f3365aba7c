// POST /v1/completions: a body to prompts and how to generate. Pure function, any thread.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <boost/json.hpp>

#include "api/generation_fields.h"
#include "base/result.h"

namespace reprise {

using PromptInput = std::variant<std::string, std::vector<TokenId>>;  // text, or tokens taken as they are

struct CompletionRequest {
  GenerationFields fields;           // sampling.logprobs as `logprobs` asks
  std::vector<PromptInput> prompts;  // at least one; prompts * n <= kMaxChoices
  bool echo = false;                 // the prompt's text comes before the completion's
  bool add_special_tokens = true;    // text prompts: add the begin token as the vocabulary says
};

// Errors: kInvalid naming the parameter; kUnsupported for suffix, beam-like best_of, and echo with logprobs.
Result<CompletionRequest> parse_completion_request(boost::json::object body, size_t vocabulary);

}  // namespace reprise
