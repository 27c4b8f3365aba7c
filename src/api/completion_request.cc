#include "api/completion_request.h"

namespace reprise {
namespace json = boost::json;
namespace {

std::unexpected<Error> unsupported(std::string param, std::string message) {
  return std::unexpected(Error{ErrorKind::kUnsupported, std::move(message), std::move(param)});
}

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

Result<CompletionRequest> parse_completion_request(json::object body, size_t vocabulary) {
  Fields fields(body);
  CompletionRequest request;
  request.fields = TRY(parse_generation_fields(fields, vocabulary));
  request.fields.sampling.logprobs =
      static_cast<int32_t>(TRY(fields.integer("logprobs", 0, 20)).value_or(-1));
  request.echo = TRY(fields.boolean("echo")).value_or(false);
  request.add_special_tokens = TRY(fields.boolean("add_special_tokens")).value_or(true);
  if (request.echo && request.fields.sampling.logprobs >= 0) {
    return unsupported(
        "echo",
        "'echo' together with 'logprobs' is unsupported: the prompt's probabilities are not computed.");
  }
  if (!TRY(fields.string("suffix")).value_or("").empty()) {
    return unsupported(
        "suffix",
        "'suffix' is unsupported: leave it out, and put fill-in-the-middle tokens into the prompt.");
  }
  if (TRY(fields.integer("best_of", 0, kMaxChoices)).value_or(request.fields.n) != request.fields.n) {
    return unsupported("best_of",
                       "'best_of' other than 'n' is unsupported: every choice generated is returned.");
  }
  request.prompts = TRY(parse_prompts(body, vocabulary));
  if (request.prompts.size() * request.fields.n > static_cast<size_t>(kMaxChoices)) {
    return invalid_param("n", "'n' times the number of prompts may be at most {}, not {}.", kMaxChoices,
                         request.prompts.size() * request.fields.n);
  }
  return request;
}

}  // namespace reprise
