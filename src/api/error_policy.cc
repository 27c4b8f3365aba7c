#include "api/error_policy.h"

#include <algorithm>
#include <cmath>

#include "api/json_text.h"

namespace reprise {
namespace json = boost::json;
namespace {

constexpr int kRetrySeconds = 5;      // where nothing is known of when it will be better
constexpr int kMaxRetrySeconds = 60;  // clients give up at once on more

std::string_view code_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kTooLarge:
      return "context_length_exceeded";
    case ErrorKind::kNotFound:
      return error.param == "model" ? "model_not_found" : "not_found";
    case ErrorKind::kUnsupported:
      return "unsupported_value";
    case ErrorKind::kOverloaded:
      return "rate_limit_exceeded";
    case ErrorKind::kUnavailable:
      return "service_unavailable";
    default:
      return {};
  }
}

json::value text_or_null(std::string_view text) { return text.empty() ? json::value() : json::value(text); }

}  // namespace

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
    case ErrorKind::kUnsupported:
    case ErrorKind::kTooLarge:
      return 400;
    case ErrorKind::kNotFound:
      return 404;
    case ErrorKind::kOverloaded:
      return 429;
    case ErrorKind::kUnavailable:
      return 503;
    case ErrorKind::kCancelled:
    case ErrorKind::kInternal:
      return 500;
  }
  return 500;
}

json::object error_object(int status, std::string_view message, std::string_view param,
                          std::string_view code) {
  std::string_view type = status == 429   ? "rate_limit_error"
                          : status >= 500 ? "server_error"
                                          : "invalid_request_error";
  json::object error;
  error["message"] = message;
  error["type"] = type;
  error["param"] = text_or_null(param);
  error["code"] = text_or_null(code);
  json::object body;
  body["error"] = std::move(error);
  return body;
}

json::object error_object(const Error& error) {
  return error_object(status_of(error.kind), error.message, error.param, code_of(error));
}

http::Response error_response(const Error& error, const Stats* stats) {
  http::Response response;
  response.status = status_of(error.kind);
  response.headers.set("Content-Type", "application/json");
  if (response.status == 429 || response.status == 503) {
    int seconds = response.status == 429 && stats ? retry_after_seconds(*stats) : kRetrySeconds;
    response.headers.set("Retry-After", std::to_string(seconds));
  }
  response.body = json_text(error_object(error));
  return response;
}

http::Response error_response(int status, std::string_view message, std::string_view code,
                              std::string_view param) {
  http::Response response;
  response.status = status;
  response.headers.set("Content-Type", "application/json");
  response.body = json_text(error_object(status, message, param, code));
  return response;
}

int retry_after_seconds(const Stats& stats) {
  if (!(stats.prefill_tokens_per_s > 0)) return kRetrySeconds;
  double seconds = std::ceil(static_cast<double>(stats.queued_tokens) / stats.prefill_tokens_per_s);
  return static_cast<int>(std::clamp(seconds, 1.0, static_cast<double>(kMaxRetrySeconds)));
}

Error context_overflow(uint64_t context_length, uint64_t prompt_tokens, std::string_view field) {
  return Error{
      ErrorKind::kTooLarge,
      fmt::format("This model's maximum context length is {} tokens. However, your {} resulted in {} tokens. "
                  "Please reduce the length of the {}.",
                  context_length, field, prompt_tokens, field),
      std::string(field)};
}

}  // namespace reprise
