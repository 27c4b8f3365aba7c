#include "text/jinja/attributes.h"

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"

namespace reprise::jinja {
namespace {

// Attributes every Python object has, so that reaching for one is a breach rather than a missing item.
bool is_internal(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

Value own_attribute(Runtime& rt, const Value& v, std::string_view name) {
  switch (v.kind()) {
    case Kind::kLoop:
    case Kind::kMacro:
      return rt.object_attribute(v, name);
    case Kind::kCycler:
      return cycler_attribute(rt, v, name);
    case Kind::kNamespace: {
      const Value* found = v.dict()->find(name);
      return found ? *found : Value();
    }
    case Kind::kTuple:
      if (v.flag() == 1) {  // a group of groupby
        if (name == "grouper") return v.list()->items[0];
        if (name == "list") return v.list()->items[1];
      }
      return {};
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      if (name == "real") return affirm(v);
      if (name == "imag") return v.is(Kind::kFloat) ? Value::real(0) : Value::integer(0);
      return {};
    case Kind::kRange: {
      const Range& r = *v.as<Range>();
      if (name == "start") return Value::integer(r.start);
      if (name == "stop") return Value::integer(r.stop);
      if (name == "step") return Value::integer(r.step);
      return {};
    }
    default:
      return {};
  }
}

// The attribute or kMissing.
Value find_attribute(Runtime& rt, const Value& v, std::string_view name, const MethodSet& methods) {
  if (const Method* method = methods.of(v)) {
    return Value::object(Kind::kMethod, rt.heap.make<BoundMethod>(v, method));
  }
  return own_attribute(rt, v, name);
}

}  // namespace

MethodSet::MethodSet(std::string_view name)
    : string(find_string_method(name)),
      list(find_list_method(name)),
      tuple(find_tuple_method(name)),
      dict(find_dict_method(name)),
      number(find_number_method(name)) {}

const Method* MethodSet::of(const Value& v) const {
  switch (v.kind()) {
    case Kind::kString:
      return string;
    case Kind::kList:
      return list;
    case Kind::kTuple:
      return tuple;
    case Kind::kDict:
      return dict;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return number;
    default:
      return nullptr;
  }
}

Value attribute(Runtime& rt, const Value& v, std::string_view name, const MethodSet& methods) {
  if (v.is(Kind::kDict) && methods.dict == nullptr) [[likely]] {
    if (const Value* found = v.dict()->find(name)) return *found;
  }
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (is_internal(name)) return Value::undefined(name, Absence::kUnsafe);
  const Value found = find_attribute(rt, v, name, methods);
  if (!found.is(Kind::kMissing)) return found;
  if (const auto entry = subscript(rt, v, Value::string(name))) return *entry;
  return Value::undefined(name, Absence::kAttribute);
}

Value attribute(Runtime& rt, const Value& v, std::string_view name) {
  return attribute(rt, v, name, MethodSet(name));
}

Value item(Runtime& rt, const Value& v, const Value& key) {
  if (const auto found = subscript(rt, v, key)) return *found;
  if (!key.is_string()) {
    return key.is_integral() ? Value::undefined("the object has no such element", Absence::kText)
                             : Value::undefined("the object has no such item", Absence::kText);
  }
  if (is_internal(key.text())) return Value::undefined(key.text(), Absence::kUnsafe);
  const Value found = find_attribute(rt, v, key.text(), MethodSet(key.text()));
  return found.is(Kind::kMissing) ? Value::undefined(key.text(), Absence::kAttribute) : found;
}

}  // namespace reprise::jinja
