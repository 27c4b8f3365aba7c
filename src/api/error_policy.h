// The one place that decides how a failure looks to a client: status, error object, Retry-After. Pure, any
// thread.
//
// Shape and codes are those the OpenAI SDKs parse: {"error": {"message", "type", "param", "code"}}.
//   kInvalid, kUnsupported  400 invalid_request_error, `param` named
//   kTooLarge               400, code context_length_exceeded: clients compact their conversation on it
//   kNotFound               404, code model_not_found
//   kOverloaded             429 with Retry-After: clients wait exactly that long (a bare 429 is fatal to
//   some) kUnavailable            503 with Retry-After kCancelled, kInternal   500
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"
#include "core/stats.h"
#include "http/exchange.h"

namespace reprise {

int status_of(ErrorKind kind);

// {"error": {...}}. An empty param or code is null.
boost::json::object error_object(int status, std::string_view message, std::string_view param = {},
                                 std::string_view code = {});
boost::json::object error_object(const Error& error);

// `stats`, when the engine is there, sizes the Retry-After of a 429.
http::Response error_response(const Error& error, const Stats* stats = nullptr);
http::Response error_response(int status, std::string_view message, std::string_view code,
                              std::string_view param = {});

// Whole seconds, 1 to 60, until the queue has likely been computed.
int retry_after_seconds(const Stats& stats);

// "This model's maximum context length is ...": the text every coding client recognises. `field` is
// "messages" or "prompt".
Error context_overflow(uint64_t context_length, uint64_t prompt_tokens, std::string_view field);

}  // namespace reprise
