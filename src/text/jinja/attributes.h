// Attribute and item access with the sandbox's rules: `a.b` prefers attributes, `a['b']` items; names with a
// leading underscore that Python objects would have are unsafe; what does not exist is undefined.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/jinja/containers.h"
#include "text/jinja/runtime.h"

namespace reprise::jinja {

// A method of a builtin type. `self` is what it was taken from.
struct Method {
  std::string_view name;
  Value (*call)(Runtime& rt, Value self, const Args& args);
};
struct BoundMethod {
  Value self;
  const Method* method;
};

const Method* find_string_method(std::string_view name);
const Method* find_list_method(std::string_view name);
const Method* find_tuple_method(std::string_view name);
const Method* find_dict_method(std::string_view name);
const Method* find_range_method(std::string_view name);
const Method* find_number_method(std::string_view name);

// The methods a name can mean, looked up once per place in a template.
struct MethodSet {
  const Method* string = nullptr;
  const Method* list = nullptr;
  const Method* tuple = nullptr;
  const Method* range = nullptr;
  const Method* dict = nullptr;
  const Method* number = nullptr;

  explicit MethodSet(std::string_view name);
  const Method* of(Value v) const;
};

// What `loop` has.
enum class LoopMember : uint8_t {
  kNone,
  kIndex,
  kIndex0,
  kFirst,
  kLast,
  kLength,
  kRevindex,
  kRevindex0,
  kDepth,
  kDepth0,
  kPrevitem,
  kNextitem,
  kCycle,
  kChanged
};
LoopMember find_loop_member(std::string_view name);  // loop.cc

// A name that stands in a template, with what is looked up for it once.
struct MemberName {
  std::string_view text;
  uint64_t hash;
  MethodSet methods;
  LoopMember loop;
  bool internal;  // an attribute every Python object has: reaching for it is a breach, not a missing item

  explicit MemberName(std::string_view name);
};

Value find_attribute(Runtime& rt, Value v, const MemberName& name);     // where that is not quick
inline Value attribute(Runtime& rt, Value v, const MemberName& name) {  // v.name
  if (v.is(Kind::kDict) ? name.methods.dict == nullptr : v.is(Kind::kNamespace) && !name.internal) {
    if (const Value* found = v.dict()->find(name.text, name.hash)) return *found;
  }
  return find_attribute(rt, v, name);
}
Value attribute(Runtime& rt, Value v, std::string_view name);

Value find_item(Runtime& rt, Value v, const MemberName& key);     // of what is no dict that has it
inline Value item(Runtime& rt, Value v, const MemberName& key) {  // v['key']
  if (v.is(Kind::kDict)) {
    if (const Value* found = v.dict()->find(key.text, key.hash)) return *found;
  }
  return find_item(rt, v, key);
}
Value item(Runtime& rt, Value v, Value key);  // v[key]

// Attributes of a cycler (globals.cc).
Value cycler_attribute(Runtime& rt, Value cycler, std::string_view name);

}  // namespace reprise::jinja
