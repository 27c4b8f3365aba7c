#include "api/answer_format.h"

#include <cmath>

namespace reprise {
namespace json = boost::json;
namespace {

// To 1/scale: dividing gives the double nearest to the decimal, which then prints short.
double rounded(double value, double scale) { return std::round(value * scale) / scale; }

json::value rate(uint64_t tokens, Nanos time) {
  if (tokens == 0 || time <= 0) return nullptr;
  return rounded(static_cast<double>(tokens) / to_seconds(time), 100);
}

}  // namespace

json::array token_ids(const Piece& piece) {
  json::array ids;
  ids.reserve(piece.tokens.size());
  for (const SampledToken& token : piece.tokens) ids.push_back(token.token);
  return ids;
}

json::value stop_reason(const Choice& ended) {
  const std::optional<std::string>& stopped_by = ended.stop_string();
  return stopped_by ? json::value(*stopped_by) : json::value();
}

json::object usage_object(const Usage& usage) {
  json::object details;
  details["cached_tokens"] = usage.cached_tokens;
  json::object object;
  object["prompt_tokens"] = usage.prompt_tokens;
  object["completion_tokens"] = usage.completion_tokens;
  object["total_tokens"] = usage.prompt_tokens + usage.completion_tokens;
  object["prompt_tokens_details"] = std::move(details);
  return object;
}

json::object timings_object(const ChoiceTimes& longest, const Usage& usage, size_t choices) {
  uint64_t decoded = usage.completion_tokens > choices ? usage.completion_tokens - choices
                                                       : 0;  // the first ones are prefill's
  json::object object;
  object["queue_ms"] = rounded(to_ms(longest.queued), 1000);
  object["prefill_ms"] = rounded(to_ms(longest.prefill), 1000);
  object["decode_ms"] = rounded(to_ms(longest.decode), 1000);
  object["prefill_tokens_per_second"] = rate(usage.prompt_tokens - usage.cached_tokens, longest.prefill);
  object["decode_tokens_per_second"] = rate(decoded, longest.decode);
  return object;
}

}  // namespace reprise
