// The filters, tests and global functions of the language, by name; null or missing when there is none.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja/arguments.h"

namespace reprise::jinja {

// Called with the piped value as first positional argument.
Builtin find_filter(std::string_view name);
Builtin find_test(std::string_view name);
std::span<const Function> global_functions();
// joiner(): nothing the first time, then the separator.
Value call_joiner(Value joiner, const Args& args);

struct NamedBuiltin {
  std::string_view name;
  Builtin call;
};
std::span<const NamedBuiltin> text_filters();      // filters_text.cc
std::span<const NamedBuiltin> value_filters();     // filters_value.cc
std::span<const NamedBuiltin> sequence_filters();  // filters_sequence.cc
std::span<const NamedBuiltin> select_filters();    // filters_select.cc

}  // namespace reprise::jinja
