// A call that is one JSON object: {"name": "f", "arguments": {...}}.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/tool_calls/answer_sink.h"
#include "text/tool_calls/json_value.h"
#include "text/tool_calls/parse.h"
#include "text/tool_calls/scanner.h"

namespace reprise::calls {

struct JsonCall {
  bool begun = false;   // the call was passed on, and ended
  bool offered = true;  // in: whether a function that is not offered is one
};

// Reads the object, its members in any order; "parameters" are "arguments" too, and "function" a name.
// `stops` end it where it breaks off; they are not read. Where it is no call, begun stays false.
Parse read_json_call(Scanner& in, AnswerSink& out, std::span<const std::string_view> stops, JsonCall& call);

// Reads the arguments of a call that was begun, and ends it.
Parse read_arguments(Scanner& in, AnswerSink& out, std::span<const std::string_view> stops);

}  // namespace reprise::calls
