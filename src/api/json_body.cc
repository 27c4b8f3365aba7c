// Boost.JSON checks UTF-8 and depth while it parses. Its parser also tells how many bytes it accepted, which
// is where the fault lies.
#include "api/json_body.h"

#include <algorithm>
#include <string>

namespace reprise {
namespace json = boost::json;
namespace {

struct Fault {
  json::error_code code;
  size_t at = 0;
};

std::expected<json::value, Fault> parse_once(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  unsigned char buffer[16384];  // the parser's own stack: saves its first allocations
  json::parser parser({}, options, buffer);
  Fault fault;
  try {
    fault.at = parser.write(text.data(), text.size(), fault.code);
    if (!fault.code) return parser.release();
  } catch (const std::exception&) {  // out of memory, or a size past Boost.JSON's own limits
    fault.code = json::error::object_too_large;
  }
  return std::unexpected(fault);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The UTF-16 unit of an escape `\uXXXX` at `at`, or -1.
int escaped_unit(std::string_view text, size_t at) {
  if (text.size() - at < 6 || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int unit = 0;
  for (size_t i = at + 2; i < at + 6; ++i) {
    int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_high(int unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(int unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Every surrogate escape without its partner written as \ufffd. A backslash occurs only inside strings, so
// strings need not be tracked.
std::string replace_lone_surrogates(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    int unit = escaped_unit(text, i);
    if (is_high(unit) && i + 6 < text.size() && is_low(escaped_unit(text, i + 6))) {
      i += 11;
    } else if (is_high(unit) || is_low(unit)) {
      out.replace(i + 2, 4, "fffd");
      i += 5;
    } else {
      ++i;  // the escaped character, which may be a backslash
    }
  }
  return out;
}

std::string reason(const json::error_code& code) {
  if (code == json::error::too_deep) return fmt::format("nested deeper than {} levels", kMaxJsonDepth);
  if (code == json::error::incomplete) return "the text ends too early";
  if (code == json::error::extra_data) return "more text after the value";
  return code.message();
}

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  auto value = parse_once(text);
  if (!value) {  // the repair keeps every other byte in its place, so a fault's position stays true
    std::string repaired = replace_lone_surrogates(text);
    if (repaired != text) value = parse_once(repaired);
  }
  if (value) return std::move(*value);
  size_t at = std::min(value.error().at, text.size());
  std::string_view before = text.substr(0, at);
  size_t newline = before.rfind('\n');
  return invalid("not valid JSON: {} at byte {} (line {}, column {})", reason(value.error().code), at,
                 std::count(before.begin(), before.end(), '\n') + 1,
                 newline == before.npos ? at + 1 : at - newline);
}

Result<json::object> parse_body(std::string_view body) {
  constexpr const char* kParam = "body";  // the whole of it
  if (body.empty()) return invalid_param(kParam, "The request body is empty; send a JSON object.");
  auto value = parse_json(body);
  if (!value) return invalid_param(kParam, "The request body is {}", value.error().message);
  if (!value->is_object()) {
    return invalid_param(kParam, "The request body must be a JSON object, not {}.", type_name(*value));
  }
  return std::move(value->get_object());
}

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "an integer";
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "an unknown value";
}

}  // namespace reprise
