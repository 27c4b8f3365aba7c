#include "api/completion_format.h"

namespace reprise {
namespace json = boost::json;

json::value CompletionFormat::logprobs(const Piece& piece) const {
  if (!options_.logprobs || piece.tokens.empty()) return nullptr;
  json::array tokens, values, tops, offsets;
  for (size_t i = 0; i < piece.tokens.size(); ++i) {
    const SampledToken& token = piece.tokens[i];
    std::string name = completion_token_name(token.token, options_.naming);
    json::object top;
    for (const TokenLogprob& candidate : token.top) {
      top[completion_token_name(candidate.token, options_.naming)] = finite_logprob(candidate.logprob);
    }
    top[name] = finite_logprob(token.logprob);  // the chosen one is always there
    tokens.push_back(json::value(name));
    values.push_back(finite_logprob(token.logprob));
    tops.push_back(std::move(top));
    offsets.push_back(piece.offsets[i]);
  }
  json::object object;
  object["tokens"] = std::move(tokens);
  object["token_logprobs"] = std::move(values);
  object["top_logprobs"] = std::move(tops);
  object["text_offset"] = std::move(offsets);
  return object;
}

json::object CompletionFormat::element(size_t choice, std::string_view text, const Piece& piece) const {
  json::object element;
  element["index"] = choice;
  element["text"] = text;
  element["logprobs"] = logprobs(piece);
  element["finish_reason"] = nullptr;
  if (options_.token_ids) element["token_ids"] = token_ids(piece);
  return element;
}

std::optional<json::object> CompletionFormat::opening(size_t choice) const {
  if (echoes_.empty()) return std::nullopt;
  return element(choice, echoes_[choice], {});
}

json::object CompletionFormat::chunk(size_t choice, const Piece& piece) const {
  return element(choice, piece.text, piece);
}

json::object CompletionFormat::closing(size_t choice, const Choice& ended) const {
  json::object closing = element(choice, "", {});
  closing["finish_reason"] = ended.finish_reason();
  closing["stop_reason"] = stop_reason(ended);
  return closing;
}

json::object CompletionFormat::whole(size_t choice, const Piece& all, const Choice& ended) const {
  json::object whole = element(choice, echoes_.empty() ? all.text : echoes_[choice] + all.text, all);
  whole["finish_reason"] = ended.finish_reason();
  whole["stop_reason"] = stop_reason(ended);
  return whole;
}

}  // namespace reprise
