// Recursion is as deep as the value: bodies are bounded by kMaxJsonDepth, answers are flat.
#include "api/json_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "text/utf8.h"

namespace reprise {
namespace json = boost::json;
namespace {

void append(std::string& out, std::string_view text) {
  out += '"';
  for (size_t plain = 0; plain < text.size();) {
    size_t i = plain;
    size_t broken = 0;  // bytes at i that are no character
    while (i < text.size() && broken == 0 && text[i] != '"' && text[i] != '\\' &&
           static_cast<uint8_t>(text[i]) >= 0x20) {
      const Utf8Step step = utf8_step(text.data() + i, text.data() + text.size());
      (step.code_point == Utf8Step::kBroken ? broken : i) += step.length;
    }
    out += text.substr(plain, i - plain);
    plain = i + std::max<size_t>(broken, 1);
    if (i == text.size()) break;
    if (broken > 0) {
      out += "\uFFFD";
      continue;
    }
    switch (text[i]) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(text[i]));
    }
  }
  out += '"';
}

void append(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const size_t start = out.size();
  fmt::format_to(std::back_inserter(out), "{}", number);  // the shortest text that reads back the same
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

void append(std::string& out, const json::value& value);

void append(std::string& out, const json::object& object) {
  out += '{';
  bool first = true;
  for (const auto& [key, member] : object) {
    if (!std::exchange(first, false)) out += ',';
    append(out, std::string_view(key.data(), key.size()));
    out += ':';
    append(out, member);
  }
  out += '}';
}

void append(std::string& out, const json::array& array) {
  out += '[';
  bool first = true;
  for (const json::value& element : array) {
    if (!std::exchange(first, false)) out += ',';
    append(out, element);
  }
  out += ']';
}

void append(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      fmt::format_to(std::back_inserter(out), "{}", value.get_int64());
      break;
    case json::kind::uint64:
      fmt::format_to(std::back_inserter(out), "{}", value.get_uint64());
      break;
    case json::kind::double_:
      append(out, value.get_double());
      break;
    case json::kind::string:
      append(out, std::string_view(value.get_string().data(), value.get_string().size()));
      break;
    case json::kind::array:
      append(out, value.get_array());
      break;
    case json::kind::object:
      append(out, value.get_object());
      break;
  }
}

}  // namespace

std::string json_text(const json::value& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string json_text(const json::object& object) {
  std::string out;
  append(out, object);
  return out;
}

}  // namespace reprise
