// POST /tokenize and /detokenize, in vLLM's shapes. Pure apart from the model's template and tokenizer; any
// thread.
#pragma once

#include <string_view>

#include <boost/json.hpp>

#include "api/loaded_model.h"
#include "base/result.h"

namespace reprise {

// {"prompt", "add_special_tokens"?, "return_token_strs"?} or {"messages", "tools"?, "add_generation_prompt"?,
// ...}
//   -> {"count", "max_model_len", "tokens", "token_strs"}
Result<boost::json::object> tokenize(std::string_view body, const LoadedModel& model,
                                     bool strict_modalities = false);
// {"tokens": [...]} -> {"prompt"}: control tokens as their text, invalid UTF-8 as U+FFFD.
Result<boost::json::object> detokenize(std::string_view body, const LoadedModel& model);

}  // namespace reprise
