// Any bytes as the body of each endpoint: JSON, then the request parsers. The first byte chooses the
// endpoint.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/chat_request.h"
#include "api/completion_request.h"
#include "api/json_body.h"
#include "base/check.h"

namespace reprise {
namespace {

constexpr size_t kVocabulary = 50'000;

void check_fields(const GenerationFields& fields) {
  const SamplingParams& sampling = fields.sampling;
  CHECK(sampling.temperature >= 0 && sampling.temperature <= 2);
  CHECK(sampling.top_p >= 0 && sampling.top_p <= 1 && sampling.top_k >= 0);
  CHECK(fields.n >= 1 && fields.n <= kMaxChoices);
  CHECK(!fields.max_tokens || *fields.max_tokens > 0);
  for (const std::string& stop : fields.stop) CHECK(!stop.empty());
  for (TokenId token : fields.stop_token_ids) CHECK(token >= 0 && static_cast<size_t>(token) < kVocabulary);
  for (auto [token, bias] : sampling.logit_bias) {
    CHECK(token >= 0 && static_cast<size_t>(token) < kVocabulary && bias >= -100 && bias <= 100);
  }
}

void check_error(const Error& error) {
  CHECK(error.kind == ErrorKind::kInvalid || error.kind == ErrorKind::kUnsupported,
        "a body is the client's fault");
  CHECK(!error.message.empty());
}

void parse(std::string_view bytes, bool is_chat) {
  auto body = parse_body(bytes);
  if (!body) return check_error(body.error());
  if (is_chat) {
    auto request = parse_chat_request(std::move(*body), {.vocabulary = kVocabulary, .traits = {}});
    if (!request) return check_error(request.error());
    check_fields(request->fields);
    for (const boost::json::value& message : request->input.messages) {
      const boost::json::value& content = message.at("content");
      CHECK(content.is_string() || (content.is_null() && message.as_object().contains("tool_calls")));
    }
  } else {
    auto request = parse_completion_request(std::move(*body), kVocabulary);
    if (!request) return check_error(request.error());
    check_fields(request->fields);
    CHECK(!request->prompts.empty() && request->prompts.size() * request->fields.n <= kMaxChoices);
  }
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  reprise::parse({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] % 2 == 0);
  return 0;
}
