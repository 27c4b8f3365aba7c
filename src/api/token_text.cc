#include "api/token_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/utf8.h"

namespace reprise {
namespace json = boost::json;
namespace {

bool is_valid_utf8(std::string_view bytes) {
  const char* end = bytes.data() + bytes.size();
  for (const char* p = bytes.data(); p < end;) {
    Utf8Step step = utf8_step(p, end);
    if (step.code_point == Utf8Step::kBroken) return false;
    p += step.length;
  }
  return true;
}

void describe(json::object& out, TokenId token, float logprob, const TokenNaming& naming) {
  std::string_view bytes = naming.tokenizer->bytes(token);
  out["token"] = naming.as_ids ? fmt::format("token_id:{}", token) : to_valid_utf8(bytes);
  out["logprob"] = finite_logprob(logprob);
  json::array values;
  values.reserve(bytes.size());
  for (char c : bytes) values.push_back(static_cast<uint8_t>(c));
  out["bytes"] = std::move(values);
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  const char* end = bytes.data() + bytes.size();
  for (const char* p = bytes.data(); p < end;) {
    Utf8Step step = utf8_step(p, end);
    if (step.code_point == Utf8Step::kBroken) {
      text += "\uFFFD";
    } else {
      text.append(p, step.length);
    }
    p += step.length;
  }
  return text;
}

size_t count_characters(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(),
                                           [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

json::object chat_logprob(const SampledToken& token, const TokenNaming& naming) {
  json::object entry;
  describe(entry, token.token, token.logprob, naming);
  json::array top;
  top.reserve(token.top.size());
  for (const TokenLogprob& candidate : token.top) {
    json::object alternative;
    describe(alternative, candidate.token, candidate.logprob, naming);
    top.push_back(std::move(alternative));
  }
  entry["top_logprobs"] = std::move(top);
  return entry;
}

std::string completion_token_name(TokenId token, const TokenNaming& naming) {
  if (naming.as_ids) return fmt::format("token_id:{}", token);
  std::string_view bytes = naming.tokenizer->bytes(token);
  if (is_valid_utf8(bytes)) return std::string(bytes);
  std::string name = "bytes:";
  for (char c : bytes) name += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  return name;
}

double finite_logprob(float logprob) {
  constexpr double kImpossible = -9999.0;
  return std::isfinite(logprob) ? std::max<double>(logprob, kImpossible) : kImpossible;
}

}  // namespace reprise
