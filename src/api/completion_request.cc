#include "api/completion_request.h"

namespace reprise {
namespace json = boost::json;
namespace {

// A string, an array of strings, an array of token ids, or an array of arrays of token ids.
Result<std::vector<PromptInput>> parse_prompts(json::object& body, size_t vocabulary) {
  json::value* prompt = body.if_contains("prompt");
  if (!prompt || prompt->is_null()) return invalid_param("prompt", "'prompt' is missing.");
  std::vector<PromptInput> prompts;
  if (prompt->is_string()) {
    prompts.emplace_back(std::string(prompt->get_string()));
    return prompts;
  }
  constexpr std::string_view kWanted =
      "a string, an array of strings, an array of token ids, or an array of those";
  if (!prompt->is_array()) return wrong_type("prompt", kWanted, *prompt);
  const json::array& list = prompt->get_array();
  if (list.empty()) return invalid_param("prompt", "'prompt' is an empty array.");
  if (list.front().is_number()) {
    prompts.emplace_back(TRY(parse_token_ids(list, "prompt", vocabulary)));
    return prompts;
  }
  if (list.size() > static_cast<size_t>(kMaxChoices)) {
    return invalid_param("prompt", "'prompt' may hold at most {} prompts, not {}.", kMaxChoices, list.size());
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind() != list.front().kind() || !(list[i].is_string() || list[i].is_array())) {
      return wrong_type(fmt::format("prompt[{}]", i),
                        "of one kind with the others: a string or an array of token ids", list[i]);
    }
    if (list[i].is_string()) {
      prompts.emplace_back(std::string(list[i].get_string()));
    } else {
      prompts.emplace_back(
          TRY(parse_token_ids(list[i].get_array(), fmt::format("prompt[{}]", i), vocabulary)));
    }
  }
  return prompts;
}

}  // namespace

Result<CompletionRequest> parse_completion_request(json::object body, size_t vocabulary,
                                                   const SamplingParams& defaults) {
  Fields fields(body);
  CompletionRequest request;
  request.fields = TRY(parse_generation_fields(fields, vocabulary, defaults, /*least_tokens=*/0));
  request.fields.sampling.logprobs =
      static_cast<int32_t>(TRY(fields.integer("logprobs", 0, 20)).value_or(-1));
  request.echo = TRY(fields.boolean("echo")).value_or(false);
  request.add_special_tokens = TRY(fields.boolean("add_special_tokens")).value_or(true);
  request.suffix = TRY(fields.string("suffix")).value_or("");
  const uint32_t n = request.fields.n;
  request.best_of = static_cast<uint32_t>(TRY(fields.integer("best_of", 1, kMaxChoices)).value_or(n));
  if (request.best_of < n) {
    return invalid_param("best_of", "'best_of' ({}) must not be less than 'n' ({}).", request.best_of, n);
  }
  if (request.best_of > n && request.fields.stream) {
    return invalid_param("best_of",
                         "'best_of' above 'n' cannot be streamed: which choices are best is known at "
                         "their ends.");
  }
  if (n > 1 && request.fields.stream && request.echo && request.fields.sampling.logprobs >= 0) {
    return invalid_param(
        "n",
        "'n' above 1 with 'echo' and 'logprobs' cannot be streamed: the prompt is scored once "
        "for all choices.");
  }
  request.prompts = TRY(parse_prompts(body, vocabulary));
  if (request.prompts.size() * request.best_of > static_cast<size_t>(kMaxChoices)) {
    return invalid_param(
        request.best_of > n ? "best_of" : "n", "'{}' times the number of prompts may be at most {}, not {}.",
        request.best_of > n ? "best_of" : "n", kMaxChoices, request.prompts.size() * request.best_of);
  }
  return request;
}

}  // namespace reprise
