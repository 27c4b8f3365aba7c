#include "api/chat_format.h"

namespace reprise {
namespace json = boost::json;
namespace {

json::object delta_element(size_t choice, json::object delta, json::value logprobs,
                           json::value finish_reason) {
  json::object element;
  element["index"] = choice;
  element["delta"] = std::move(delta);
  element["logprobs"] = std::move(logprobs);
  element["finish_reason"] = std::move(finish_reason);
  return element;
}

}  // namespace

json::value ChatFormat::logprobs(const Piece& piece) const {
  if (!options_.logprobs) return nullptr;
  json::array content;
  content.reserve(piece.tokens.size());
  for (const SampledToken& token : piece.tokens) content.push_back(chat_logprob(token, options_.naming));
  json::object object;
  object["content"] = std::move(content);
  object["refusal"] = nullptr;
  return object;
}

std::optional<json::object> ChatFormat::opening(size_t choice) const {
  json::object delta;
  delta["role"] = "assistant";
  delta["content"] = "";
  return delta_element(choice, std::move(delta), nullptr, nullptr);
}

json::object ChatFormat::chunk(size_t choice, const Piece& piece) const {
  json::object delta;
  delta["content"] = piece.text;
  json::object element =
      delta_element(choice, std::move(delta), piece.tokens.empty() ? nullptr : logprobs(piece), nullptr);
  if (options_.token_ids) element["token_ids"] = token_ids(piece);
  return element;
}

json::object ChatFormat::closing(size_t choice, const Choice& ended) const {
  json::object element = delta_element(choice, {}, nullptr, json::value(ended.finish_reason()));
  element["stop_reason"] = stop_reason(ended);
  return element;
}

json::object ChatFormat::whole(size_t choice, const Piece& all, const Choice& ended) const {
  json::object message;
  message["role"] = "assistant";
  message["content"] = all.text;
  message["refusal"] = nullptr;
  json::object element;
  element["index"] = choice;
  element["message"] = std::move(message);
  element["logprobs"] = logprobs(all);
  element["finish_reason"] = ended.finish_reason();
  element["stop_reason"] = stop_reason(ended);
  if (options_.token_ids) element["token_ids"] = token_ids(all);
  return element;
}

}  // namespace reprise
