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
  GenerationFields fields;           // sampling.logprobs as `logprobs` asks; max_tokens may be 0
  std::vector<PromptInput> prompts;  // at least one; prompts * best_of <= kMaxChoices
  std::string suffix;                // text after the gap that the model is to fill; empty: none
  uint32_t best_of = 1;  // choices generated a prompt, of which the `fields.n` likeliest are returned
  bool echo = false;     // the prompt comes before the completion: its text, and with logprobs its tokens'
  bool add_special_tokens = true;  // text prompts: add the begin token as the vocabulary says
};

// `defaults`: the sampling for what the body leaves out. Errors: kInvalid naming the parameter.
Result<CompletionRequest> parse_completion_request(boost::json::object body, size_t vocabulary,
                                                   const SamplingParams& defaults = {});

}  // namespace reprise
