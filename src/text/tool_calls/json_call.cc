#include "text/tool_calls/json_call.h"

#include <optional>

#include <boost/json.hpp>

namespace reprise::calls {
namespace {

// The text of a JSON string that was read whole.
std::optional<std::string> string_in(const Collected& json, bool whole) {
  if (!whole) return std::nullopt;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(json.text, error);
  if (error || !value.is_string()) return std::nullopt;
  return std::string(value.get_string());
}

}  // namespace

Parse read_arguments(Scanner& in, AnswerSink& out, std::span<const std::string_view> stops) {
  JsonReader arguments(out.arguments);
  co_await in.value(arguments, stops);
  arguments.close();
  out.end_call();
}

Parse read_json_call(Scanner& in, AnswerSink& out, std::span<const std::string_view> stops, JsonCall& call) {
  co_await in.space();
  const bool object = co_await in.accept("{");
  if (!object) co_return;
  std::string name;
  Collected early;  // arguments that came before the name
  bool ready = false, closed = false;
  for (;;) {
    const char next = co_await in.space();
    if (next == ',') {
      co_await in.accept(",");
      continue;
    }
    closed = next == '}';
    if (closed || next == '\0' || next == kMark) break;
    Collected key_text;
    JsonReader key_reader(key_text, JsonReader::Wanted::kAny);
    const bool key_whole = co_await in.value(key_reader, stops);
    const std::optional<std::string> key = string_in(key_text, key_whole);
    if (!key) break;
    co_await in.space();
    const bool colon = co_await in.accept(":");
    if (!colon) break;
    if (*key == "arguments" || *key == "parameters") {
      if (!name.empty() && !call.begun && !ready) {
        out.begin_call(name);
        call.begun = true;
        Parse arguments = read_arguments(in, out, stops);
        co_await arguments;
        continue;
      }
      Collected again;  // the first ones count
      JsonReader reader(ready || call.begun ? again : early);
      co_await in.value(reader, stops);
      reader.close();
      ready = true;
      continue;
    }
    Collected value;
    JsonReader reader(value, JsonReader::Wanted::kAny);
    const bool whole = co_await in.value(reader, stops);
    if (name.empty() && (*key == "name" || *key == "function")) {
      name = string_in(value, whole).value_or("");
      if (name.empty() || (call.offered && !out.tools().offers(name))) co_return;
    }
    if (!whole) break;
  }
  if (closed) co_await in.accept("}");
  if (call.begun || name.empty() || !closed) co_return;
  out.begin_call(name);
  out.arguments.put(ready ? std::string_view(early.text) : "{}");
  out.end_call();
  call.begun = true;
}

}  // namespace reprise::calls
