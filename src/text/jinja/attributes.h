// Attribute and item access with the sandbox's rules: `a.b` prefers attributes, `a['b']` items; names with a
// leading underscore that Python objects would have are unsafe; what does not exist is undefined.
#pragma once

#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// A method of a builtin type. `self` is what it was taken from.
struct Method {
  std::string_view name;
  Value (*call)(Runtime& rt, const Value& self, const Args& args);
};
struct BoundMethod {
  Value self;
  const Method* method;
};

const Method* find_string_method(std::string_view name);
const Method* find_list_method(std::string_view name);
const Method* find_tuple_method(std::string_view name);
const Method* find_dict_method(std::string_view name);
const Method* find_number_method(std::string_view name);

// The methods a name can mean, looked up once per place in a template.
struct MethodSet {
  const Method* string = nullptr;
  const Method* list = nullptr;
  const Method* tuple = nullptr;
  const Method* dict = nullptr;
  const Method* number = nullptr;

  explicit MethodSet(std::string_view name);
  const Method* of(const Value& v) const;
};

Value attribute(Runtime& rt, const Value& v, std::string_view name, const MethodSet& methods);  // v.name
Value attribute(Runtime& rt, const Value& v, std::string_view name);
Value item(Runtime& rt, const Value& v, const Value& key);  // v[key]

// Attributes of a cycler (globals.cc).
Value cycler_attribute(Runtime& rt, const Value& cycler, std::string_view name);

}  // namespace reprise::jinja
