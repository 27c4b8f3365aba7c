#include "api/completion_format.h"

namespace reprise {
namespace json = boost::json;
namespace {

// The four parallel lists of the object.
struct Columns {
  json::array tokens, values, tops, offsets;

  void add(const SampledToken& token, uint32_t offset, const TokenNaming& naming) {
    std::string name = completion_token_name(token.token, naming);
    json::object top;
    for (const TokenLogprob& candidate : token.top) {
      top[completion_token_name(candidate.token, naming)] = finite_logprob(candidate.logprob);
    }
    top[name] = finite_logprob(token.logprob);  // the chosen one is always there
    tokens.push_back(json::value(name));
    values.push_back(finite_logprob(token.logprob));
    tops.push_back(std::move(top));
    offsets.push_back(offset);
  }
  void add_unknown(TokenId token, const TokenNaming& naming) {
    tokens.push_back(json::value(completion_token_name(token, naming)));
    values.push_back(nullptr);
    tops.push_back(nullptr);
    offsets.push_back(0);
  }
};

}  // namespace

json::value CompletionFormat::logprobs(size_t choice, const Piece& piece, bool opens) const {
  const PromptEcho* echo = echo_of(choice);
  opens = opens && echo != nullptr;
  if (!options_.logprobs || !(opens || piece.has_tokens())) return nullptr;
  Columns columns;
  if (opens) columns.add_unknown(echo->first, options_.naming);
  for (size_t i = 0; i < piece.prompt.size(); ++i)
    columns.add(piece.prompt[i], echo->offsets[piece.prompt_at + i], options_.naming);
  for (size_t i = 0; i < piece.tokens.size(); ++i)
    columns.add(piece.tokens[i], piece.offsets[i] + (echo ? echo->characters : 0), options_.naming);
  json::object object;
  object["tokens"] = std::move(columns.tokens);
  object["token_logprobs"] = std::move(columns.values);
  object["top_logprobs"] = std::move(columns.tops);
  object["text_offset"] = std::move(columns.offsets);
  return object;
}

json::object CompletionFormat::element(size_t choice, std::string_view text, const Piece& piece,
                                       bool opens) const {
  json::object element;
  element["index"] = choice;
  element["text"] = text;
  element["logprobs"] = logprobs(choice, piece, opens);
  element["finish_reason"] = nullptr;
  if (options_.token_ids) element["token_ids"] = token_ids(piece);
  return element;
}

std::optional<json::object> CompletionFormat::opening(size_t choice) const {
  if (echoes_.empty()) return std::nullopt;
  return element(choice, echo_of(choice)->text, {}, /*opens=*/true);
}

json::object CompletionFormat::chunk(size_t choice, const Piece& piece) const {
  return element(choice, piece.text, piece, /*opens=*/false);
}

json::object CompletionFormat::closing(size_t choice, const Choice& ended) const {
  json::object closing = element(choice, "", {}, /*opens=*/false);
  closing["finish_reason"] = ended.finish_reason();
  closing["stop_reason"] = stop_reason(ended);
  return closing;
}

json::object CompletionFormat::whole(size_t choice, const Piece& all, const Choice& ended) const {
  const PromptEcho* echo = echo_of(choice);
  json::object whole = element(choice, echo ? echo->text + all.text : all.text, all, /*opens=*/true);
  whole["finish_reason"] = ended.finish_reason();
  whole["stop_reason"] = stop_reason(ended);
  return whole;
}

}  // namespace reprise
