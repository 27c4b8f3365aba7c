// Python's two string formatting languages: '%' (printf style) and str.format.
#pragma once

#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// format % arguments: a tuple gives several arguments, a dict named ones, anything else one.
Value format_percent(Runtime& rt, Value format, Value arguments);
// format.format(*positional, **named)
Value format_braces(Runtime& rt, Value format, const Args& args);
// format(v, spec), Python's format specification mini-language.
void format_spec(Runtime& rt, Value v, std::string_view spec, Builder& out);

}  // namespace reprise::jinja
