#include "text/jinja/attributes.h"

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"

namespace reprise::jinja {
namespace {

bool is_internal(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

Value own_attribute(Runtime& rt, Value v, const MemberName& member) {
  const std::string_view name = member.text;
  switch (v.kind()) {
    case Kind::kLoop:
    case Kind::kMacro:
      return rt.object_attribute(v, member);
    case Kind::kCycler:
      return cycler_attribute(rt, v, name);
    case Kind::kNamespace: {
      const Value* found = v.dict()->find(name, member.hash);
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

// A method or attribute that Python has for the type, or kMissing.
Value type_attribute(Runtime& rt, Value v, const MemberName& name) {
  if (const Method* method = name.methods.of(v)) {
    return Value::object(Kind::kMethod, rt.heap.make<BoundMethod>(v, method));
  }
  return own_attribute(rt, v, name);
}

}  // namespace

MethodSet::MethodSet(std::string_view name)
    : string(find_string_method(name)),
      list(find_list_method(name)),
      tuple(find_tuple_method(name)),
      range(find_range_method(name)),
      dict(find_dict_method(name)),
      number(find_number_method(name)) {}

const Method* MethodSet::of(Value v) const {
  switch (v.kind()) {
    case Kind::kString:
      return string;
    case Kind::kList:
      return list;
    case Kind::kTuple:
      return tuple;
    case Kind::kRange:
      return range;
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

MemberName::MemberName(std::string_view name)
    : text(name),
      hash(hash_text(name)),
      methods(name),
      loop(find_loop_member(name)),
      internal(is_internal(name)) {}

Value find_attribute(Runtime& rt, Value v, const MemberName& name) {
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (name.internal) return Value::undefined(name.text, Absence::kUnsafe);
  const Value found = type_attribute(rt, v, name);
  if (!found.is(Kind::kMissing)) return found;
  if (const auto entry = subscript(rt, v, Value::string(name.text))) return *entry;
  return Value::undefined(name.text, Absence::kAttribute);
}

Value attribute(Runtime& rt, Value v, std::string_view name) { return attribute(rt, v, MemberName(name)); }

Value find_item(Runtime& rt, Value v, const MemberName& key) {
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (key.internal) return Value::undefined(key.text, Absence::kUnsafe);
  const Value found = type_attribute(rt, v, key);
  return found.is(Kind::kMissing) ? Value::undefined(key.text, Absence::kAttribute) : found;
}

Value item(Runtime& rt, Value v, Value key) {
  if (const auto found = subscript(rt, v, key)) return *found;
  if (key.is_string()) return item(rt, v, MemberName(key.text()));
  return key.is_integral() ? Value::undefined("the object has no such element", Absence::kText)
                           : Value::undefined("the object has no such item", Absence::kText);
}

}  // namespace reprise::jinja
