// The language's tests: `value is NAME(arguments)`.
#include <algorithm>
#include <array>

#include "text/jinja/attributes.h"
#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace reprise::jinja {
namespace {

Value one(const Args& args, bool (*test)(Value)) {
  return Value::boolean(test(bind<1>("test", args, {"value"}, 1).at(0)));
}

template <Kind... kinds>
Value is_kind(Runtime&, const Args& args) {
  const auto a = bind<1>("test", args, {"value"}, 1);
  return Value::boolean((a.at(0).is(kinds) || ...));
}

Value is_defined(Runtime&, const Args& args) {
  return one(args, [](Value v) { return !v.is(Kind::kUndefined); });
}
Value is_true(Runtime&, const Args& args) {
  return one(args, [](Value v) { return v.is(Kind::kBool) && v.as_bool(); });
}
Value is_false(Runtime&, const Args& args) {
  return one(args, [](Value v) { return v.is(Kind::kBool) && !v.as_bool(); });
}
Value is_sequence(Runtime&, const Args& args) {
  return one(args, [](Value v) {
    return v.is_string() || v.is_listlike() || v.is(Kind::kDict) || v.is(Kind::kRange) ||
           v.is(Kind::kUndefined);
  });
}
Value is_iterable_test(Runtime&, const Args& args) { return one(args, is_iterable); }
Value is_callable(Runtime&, const Args& args) {
  return one(args, [](Value v) {
    switch (v.kind()) {
      case Kind::kFunction:
      case Kind::kMethod:
      case Kind::kMacro:
      case Kind::kLoop:
      case Kind::kJoiner:
      case Kind::kUndefined:
        return true;
      default:
        return false;
    }
  });
}
Value is_escaped(Runtime&, const Args& args) {
  return one(args, [](Value v) { return v.safe(); });
}

template <bool upper>
Value is_case(Runtime& rt, const Args& args) {
  const auto a = bind<1>("test", args, {"value"}, 1);
  static const Method* const method = find_string_method(upper ? "isupper" : "islower");
  return method->call(rt, to_str(rt, a.at(0)), Args{});
}

bool divides(Runtime& rt, Value v, Value divisor) {
  return equal(rt, arithmetic(rt, Arithmetic::kModulo, v, divisor), Value::integer(0));
}
Value is_even(Runtime& rt, const Args& args) {
  return Value::boolean(divides(rt, bind<1>("even", args, {"value"}, 1).at(0), Value::integer(2)));
}
Value is_odd(Runtime& rt, const Args& args) {
  const Value rest =
      arithmetic(rt, Arithmetic::kModulo, bind<1>("odd", args, {"value"}, 1).at(0), Value::integer(2));
  return Value::boolean(equal(rt, rest, Value::integer(1)));
}
Value is_divisible(Runtime& rt, const Args& args) {
  const auto a = bind<2>("divisibleby", args, {"value", "num"}, 2);
  return Value::boolean(divides(rt, a.at(0), a.at(1)));
}

Value is_same(Runtime&, const Args& args) {
  const auto a = bind<2>("sameas", args, {"value", "other"}, 2);
  const Value& x = a.at(0);
  const Value& y = a.at(1);
  if (x.kind() != y.kind()) return Value::boolean(false);
  switch (x.kind()) {
    case Kind::kNone:
      return Value::boolean(true);
    case Kind::kBool:
    case Kind::kInt:
      return Value::boolean(x.as_int() == y.as_int());
    case Kind::kFloat:
      return Value::boolean(x.as_double() == y.as_double());
    case Kind::kString:
    case Kind::kUndefined:
      return Value::boolean(x.text() == y.text());
    default:
      return Value::boolean(x.identity() == y.identity());
  }
}

template <Order order>
Value is_ordered(Runtime& rt, const Args& args) {
  const auto a = bind<2>("comparison", args, {"a", "b"}, 2);
  return Value::boolean(ordered(rt, order, a.at(0), a.at(1)));
}
template <bool wanted>
Value is_equal(Runtime& rt, const Args& args) {
  const auto a = bind<2>("comparison", args, {"a", "b"}, 2);
  return Value::boolean(equal(rt, a.at(0), a.at(1)) == wanted);
}
Value is_in(Runtime& rt, const Args& args) {
  const auto a = bind<2>("in", args, {"value", "seq"}, 2);
  return Value::boolean(contains(rt, a.at(1), a.at(0)));
}

template <Builtin (*find)(std::string_view)>
Value names_builtin(Runtime& rt, const Args& args) {
  const auto a = bind<1>("test", args, {"value"}, 1);
  hash(rt, a.at(0));  // Python looks into a dict, which takes no lists
  return Value::boolean(a.at(0).is_string() && find(a.at(0).text()) != nullptr);
}

constexpr std::array kTests = std::to_array<NamedBuiltin>({
    {"!=", is_equal<false>},
    {"<", is_ordered<Order::kLess>},
    {"<=", is_ordered<Order::kLessEqual>},
    {"==", is_equal<true>},
    {">", is_ordered<Order::kGreater>},
    {">=", is_ordered<Order::kGreaterEqual>},
    {"boolean", is_kind<Kind::kBool>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", is_equal<true>},
    {"equalto", is_equal<true>},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_false},
    {"filter", names_builtin<find_filter>},
    {"float", is_kind<Kind::kFloat>},
    {"ge", is_ordered<Order::kGreaterEqual>},
    {"greaterthan", is_ordered<Order::kGreater>},
    {"gt", is_ordered<Order::kGreater>},
    {"in", is_in},
    {"integer", is_kind<Kind::kInt>},
    {"iterable", is_iterable_test},
    {"le", is_ordered<Order::kLessEqual>},
    {"lessthan", is_ordered<Order::kLess>},
    {"lower", is_case<false>},
    {"lt", is_ordered<Order::kLess>},
    {"mapping", is_kind<Kind::kDict>},
    {"ne", is_equal<false>},
    {"none", is_kind<Kind::kNone>},
    {"number", is_kind<Kind::kInt, Kind::kFloat, Kind::kBool>},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::kString>},
    {"test", names_builtin<find_test>},
    {"true", is_true},
    {"undefined", is_kind<Kind::kUndefined>},
    {"upper", is_case<true>},
});
static_assert(std::ranges::is_sorted(kTests, {}, &NamedBuiltin::name));

}  // namespace

Builtin find_test(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kTests, name, {}, &NamedBuiltin::name);
  return found != kTests.end() && found->name == name ? found->call : nullptr;
}

}  // namespace reprise::jinja
