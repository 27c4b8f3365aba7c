#include "api/tokenize.h"

#include "api/generation_plan.h"
#include "api/json_body.h"

namespace reprise {
namespace json = boost::json;
namespace {

Result<std::vector<TokenId>> tokens_of(json::object& body, const LoadedModel& model, bool strict_modalities) {
  Fields fields(body);
  bool special = TRY(fields.boolean("add_special_tokens")).value_or(true);
  if (fields.find("messages")) {
    const ChatLimits limits{model.tokenizer().size(), model.traits, strict_modalities};
    return chat_tokens(TRY(parse_conversation(body, limits)).input, model);
  }
  auto prompt = TRY(fields.string("prompt"));
  if (!prompt)
    return invalid_param("prompt", "'prompt' is missing: send a string, or 'messages' for a conversation.");
  return model.tokenizer().encode(*prompt, {.add_bos_eos = special});
}

}  // namespace

Result<json::object> tokenize(std::string_view text, const LoadedModel& model, bool strict_modalities) {
  json::object body = TRY(parse_body(text));
  bool strings = TRY(Fields(body).boolean("return_token_strs")).value_or(false);
  std::vector<TokenId> tokens = TRY(tokens_of(body, model, strict_modalities));
  json::object answer;
  answer["count"] = tokens.size();
  answer["max_model_len"] = model.context_length();
  answer["tokens"] = json::array(tokens.begin(), tokens.end());
  json::value& names = answer["token_strs"];
  if (strings) {
    json::array& list = names.emplace_array();
    for (TokenId token : tokens) list.push_back(json::value(to_valid_utf8(model.tokenizer().bytes(token))));
  }
  return answer;
}

Result<json::object> detokenize(std::string_view text, const LoadedModel& model) {
  json::object body = TRY(parse_body(text));
  Fields fields(body);
  const json::array* ids = TRY(fields.array("tokens"));
  if (!ids) return invalid_param("tokens", "'tokens' is missing: send an array of token ids.");
  std::vector<TokenId> tokens = TRY(parse_token_ids(*ids, "tokens", model.tokenizer().size()));
  json::object answer;
  answer["prompt"] = to_valid_utf8(model.tokenizer().decode(tokens, true));
  return answer;
}

}  // namespace reprise
