// The two places where URLs occur: what a client is given, and the target of a request line (RFC 3986, RFC
// 9112 §3.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise::http {

struct Url {
  std::string host;  // "::1" without brackets
  uint16_t port = 80;
  std::string path = "";  // prefix of all targets, no slash at its end: "" or "/base"
};
// "http://host[:port][/path]", or the same without "http://". https is refused by name.
Result<Url> parse_url(std::string_view text);

// %XX decoded; nothing when an escape is malformed.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

struct Target {
  std::string path;   // decoded
  std::string query;  // as sent, without '?'
};
// "/path?query", "http://host/path?query", or "*". Nothing when it is none of these.
std::optional<Target> parse_target(std::string_view target);

// The decoded value of the first parameter of that name in "a=1&b=2".
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace reprise::http
