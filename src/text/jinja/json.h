// JSON in and out: the caller's input as template values, and the tojson filter (Python's json.dumps).
#pragma once

#include <string_view>

#include <boost/json.hpp>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// Strings are shared with `json`, which must outlive the render.
Value from_json(Runtime& rt, const boost::json::value& json);
Value from_json(Runtime& rt, const boost::json::array& array);

struct JsonStyle {
  bool ensure_ascii = false;
  bool pretty = false;      // each element on its own line
  std::string_view indent;  // one level of indentation, when pretty
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  bool sort_keys = false;
};
Value to_json(Runtime& rt, Value v, const JsonStyle& style);

}  // namespace reprise::jinja
