// Values as text: Python's str() and repr(), and the way Python writes floats.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

void append_float(std::string& out, double d);  // repr(float): shortest text that reads back the same
void append_int(std::string& out, __int128 i);
void append_str(Runtime& rt, Value v, Builder& out);
void append_repr(Runtime& rt, Value v, Builder& out);
// str(v): a string's own bytes (no copy), else new text on the heap; the result is never Markup.
Value to_str(Runtime& rt, Value v);
inline std::string_view str(Runtime& rt, Value v) { return to_str(rt, v).text(); }
Value to_repr(Runtime& rt, Value v);
// As to_str, but Markup stays Markup (markupsafe.soft_str).
Value soft_str(Runtime& rt, Value v);

// HTML escaping (markupsafe.escape): Markup stays as it is, else & < > ' " are replaced. The result is
// Markup.
Value escape(Runtime& rt, Value v);

}  // namespace reprise::jinja
