// Request bodies as JSON (RFC 8259). Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

// Nesting allowed in bodies and in tool-call arguments. Tool schemas and arguments of real clients stay below
// 30; everything that walks a value recursively (templates, destructors) is safe at this depth.
inline constexpr uint32_t kMaxJsonDepth = 128;

// One JSON value and nothing after it. Of duplicate keys the last one counts. A lone UTF-16 surrogate escape,
// which JavaScript clients send when they cut a string inside an emoji, becomes U+FFFD. kInvalid names the
// byte, line and column of the fault.
Result<boost::json::value> parse_json(std::string_view text);

// The same for a request body, which must be an object.
Result<boost::json::object> parse_body(std::string_view body);

// "a string", "an object", ...: the type of a value as error messages name it.
std::string_view type_name(const boost::json::value& value);

}  // namespace reprise
