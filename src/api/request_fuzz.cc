// Any bytes as the body of each endpoint: JSON, then the request parsers. The first byte chooses the endpoint
// (bit 0), what the template knows (bits 1 to 4) and whether parts that are no text are refused (bit 6).
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

void check_fields(const GenerationFields& fields, uint32_t least_tokens) {
  const SamplingParams& sampling = fields.sampling;
  CHECK(sampling.temperature >= 0 && sampling.temperature <= 2);
  CHECK(sampling.top_p >= 0 && sampling.top_p <= 1 && sampling.top_k >= 0);
  CHECK(fields.n >= 1 && fields.n <= kMaxChoices);
  CHECK(sampling.min_p >= 0 && sampling.min_p <= 1 && sampling.repetition_penalty > 0);
  CHECK(sampling.presence_penalty >= -2 && sampling.presence_penalty <= 2);
  CHECK(sampling.frequency_penalty >= -2 && sampling.frequency_penalty <= 2);
  CHECK(!fields.max_tokens ||
        (*fields.max_tokens >= least_tokens && *fields.max_tokens >= fields.min_tokens));
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

void check_chat(const ChatRequest& request, const ChatLimits& limits) {
  check_fields(request.fields, /*least_tokens=*/1);
  const ChatInput& input = request.input;
  CHECK(!input.messages.empty());
  for (const boost::json::value& message : input.messages) {
    const boost::json::value& content = message.at("content");
    CHECK(content.is_string() ||
          (content.is_null() && limits.traits.null_content && message.as_object().contains("tool_calls")));
    CHECK(message.at("role") != "developer" || limits.traits.developer_role);
  }
  const OmittedParts& omitted = request.omitted;
  const auto parts = omitted.images + omitted.audio + omitted.video + omitted.files + omitted.others;
  CHECK(!limits.strict_modalities || parts == 0);
  if (input.continue_final_message) {
    CHECK(!input.add_generation_prompt);
    const boost::json::object& last = input.messages.back().as_object();
    CHECK(last.at("role") == "assistant" && !last.at("content").as_string().empty());
  }
}

void parse(std::string_view bytes, uint8_t choice) {
  auto body = parse_body(bytes);
  if (!body) return check_error(body.error());
  if (choice % 2 == 0) {
    const auto bit = [choice](int index) { return (choice >> index & 1) != 0; };
    const ChatLimits limits{
        .vocabulary = kVocabulary,
        .traits = {.developer_role = bit(1), .null_content = bit(2), .effort = bit(3), .thinking = bit(4)},
        .strict_modalities = bit(6)};
    auto request = parse_chat_request(std::move(*body), limits);
    if (!request) return check_error(request.error());
    check_chat(*request, limits);
  } else {
    auto request = parse_completion_request(std::move(*body), kVocabulary);
    if (!request) return check_error(request.error());
    check_fields(request->fields, /*least_tokens=*/0);
    CHECK(request->best_of >= request->fields.n &&
          (request->best_of == request->fields.n || !request->fields.stream));
    CHECK(!request->prompts.empty() && request->prompts.size() * request->best_of <= kMaxChoices);
  }
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  reprise::parse({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0]);
  return 0;
}
