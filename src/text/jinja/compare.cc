// Comparisons charge the instruction budget per element, because lists may share structure and a comparison
// of two of them can take exponential time in the size of the template.
#include "text/jinja/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "text/jinja/containers.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

// Exact for every value here: x87 extended precision holds 64-bit integers.
long double number(Value v) {
  return v.is(Kind::kFloat) ? static_cast<long double>(v.as_double()) : static_cast<long double>(v.as_int());
}

std::partial_ordering order_lists(Runtime& rt, Value a, Value b) {
  const Nesting nesting(rt);
  const List& x = *a.list();
  const List& y = *b.list();
  for (uint32_t i = 0; i < std::min(x.size, y.size); ++i) {
    if (!equal(rt, x.items[i], y.items[i])) return order(rt, Order::kLess, x.items[i], y.items[i]);
  }
  return x.size <=> y.size;
}

uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

}  // namespace

void raise_undefined(Value v) {
  switch (static_cast<Absence>(v.flag())) {
    case Absence::kName:
      raise("'{}' is undefined", v.text());
    case Absence::kAttribute:
      raise("the object has no attribute '{}'", v.text());
    case Absence::kUnsafe:
      raise("access to attribute '{}' is unsafe", v.text());
    case Absence::kParameter:
      raise("parameter '{}' was not provided", v.text());
    case Absence::kText:
      raise("{}", v.text());
  }
  raise("undefined value");
}

bool truthy_object(Value v) {
  switch (v.kind()) {
    case Kind::kMissing:
    case Kind::kNone:
    case Kind::kUndefined:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return v.as_int() != 0;
    case Kind::kFloat:
      return v.as_double() != 0;
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
      return v.list()->size != 0;
    case Kind::kDict:
      return v.dict()->size != 0;
    case Kind::kRange:
      return v.as<Range>()->size != 0;
    default:
      return true;
  }
}

bool equal_objects(Runtime& rt, Value a, Value b) {
  if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
  if (a.is_number() && b.is_number()) return number(a) == number(b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
    case Kind::kMissing:
      return true;
    case Kind::kList:
    case Kind::kTuple: {
      if (a.identity() == b.identity()) return true;
      const List& x = *a.list();
      const List& y = *b.list();
      if (x.size != y.size) return false;
      const Nesting nesting(rt);
      rt.charge(x.size);
      for (uint32_t i = 0; i < x.size; ++i) {
        if (!equal(rt, x.items[i], y.items[i])) return false;
      }
      return true;
    }
    case Kind::kDict: {
      if (a.identity() == b.identity()) return true;
      const Dict& x = *a.dict();
      if (x.size != b.dict()->size) return false;
      const Nesting nesting(rt);
      rt.charge(x.size);
      for (uint32_t i = 0; i < x.end; ++i) {
        if (x.entries[i].key.is(Kind::kMissing)) continue;
        const Value* other = b.dict()->find(rt, x.entries[i].key);
        if (other == nullptr || !equal(rt, x.entries[i].value, *other)) return false;
      }
      return true;
    }
    case Kind::kRange: {
      const Range& x = *a.as<Range>();
      const Range& y = *b.as<Range>();
      return x.size == y.size && (x.size == 0 || (x.start == y.start && (x.size == 1 || x.step == y.step)));
    }
    case Kind::kView: {  // of keys and items: as sets
      if (a.identity() == b.identity()) return true;
      const auto is_set = [](Value v) { return static_cast<ViewKind>(v.flag()) != ViewKind::kValues; };
      if (!is_set(a) || !is_set(b) || a.list()->size != b.list()->size) return false;
      return std::ranges::all_of(a.list()->span(), [&](const Value& x) {
        return std::ranges::any_of(b.list()->span(), [&](const Value& y) {
          rt.charge();
          return equal(rt, x, y);
        });
      });
    }
    default:
      return a.identity() == b.identity();
  }
}

std::partial_ordering order(Runtime& rt, Order op, Value a, Value b) {
  static constexpr std::string_view kSymbols[] = {"<", "<=", ">", ">="};
  if (a.is_integral() && b.is_integral()) return a.as_int() <=> b.as_int();
  if (a.is_number() && b.is_number()) return number(a) <=> number(b);
  if (a.is_string() && b.is_string()) {
    rt.charge(std::min(a.text().size(), b.text().size()) / 64);
    return a.text() <=> b.text();  // UTF-8 sorts as code points do
  }
  if (a.is_listlike() && a.kind() == b.kind()) return order_lists(rt, a, b);
  if (a.is(Kind::kUndefined) || b.is(Kind::kUndefined)) raise_undefined(a.is(Kind::kUndefined) ? a : b);
  raise("'{}' not supported between instances of '{}' and '{}'", kSymbols[static_cast<size_t>(op)],
        type_name(a), type_name(b));
}

bool contains(Runtime& rt, Value container, Value item) {
  if (container.is_string()) {
    if (item.is(Kind::kUndefined)) raise("'in <string>' requires string as left operand, not Undefined");
    if (!item.is_string()) {
      raise("'in <string>' requires string as left operand, not {}", type_name(item));
    }
    rt.charge(container.text().size() / 64);
    return container.text().find(item.text()) != std::string_view::npos;
  }
  if (container.is(Kind::kDict)) return container.dict()->find(rt, item) != nullptr;
  if (!is_iterable(container)) raise("argument of type '{}' is not iterable", type_name(container));
  // As a set the view of keys looks an item up by its hash.
  if (container.is(Kind::kView) && static_cast<ViewKind>(container.flag()) == ViewKind::kKeys) hash(rt, item);
  const Sequence sequence = iterate(rt, container);
  for (size_t i = 0; i < sequence.size(); ++i) {
    rt.charge();
    if (equal(rt, sequence.at(i), item)) return true;
  }
  return false;
}

uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

uint64_t hash(Runtime& rt, Value v) {
  switch (v.kind()) {
    case Kind::kString:
      rt.charge(v.text().size() / 64);
      return hash_text(v.text());
    case Kind::kBool:
    case Kind::kInt:
      return mix(static_cast<uint64_t>(v.as_int()));
    case Kind::kFloat: {
      const double d = v.as_double();
      if (d == std::floor(d) && std::abs(d) < 9.2e18)
        return mix(static_cast<uint64_t>(static_cast<int64_t>(d)));
      if (d >= 9.2e18 && d < 1.8446744073709552e19 && d == std::floor(d))
        return mix(static_cast<uint64_t>(d));
      return mix(std::hash<double>{}(d));
    }
    case Kind::kTuple: {
      const Nesting nesting(rt);
      uint64_t h = 0x1234567;
      for (const Value& item : v.list()->span()) {
        rt.charge();
        h = mix(h ^ hash(rt, item));
      }
      return h;
    }
    case Kind::kList:
    case Kind::kDict:
      raise("unhashable type: '{}'", type_name(v));
    case Kind::kView:
      if (static_cast<ViewKind>(v.flag()) != ViewKind::kValues) raise("unhashable type: '{}'", type_name(v));
      return mix(reinterpret_cast<uintptr_t>(v.identity()));
    case Kind::kUndefined:
    case Kind::kNone:
      return mix(static_cast<uint64_t>(v.kind()));
    default:
      return mix(reinterpret_cast<uintptr_t>(v.identity()));
  }
}

uint64_t length(Value v) {
  switch (v.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return unicode::length(v.text());
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
      return v.list()->size;
    case Kind::kDict:
      return v.dict()->size;
    case Kind::kRange:
      return v.as<Range>()->size;
    default:
      raise("object of type '{}' has no len()", type_name(v));
  }
}

std::string_view type_name(Value v) {
  switch (v.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return v.safe() ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      return v.flag() == 0 ? "dict_keys" : v.flag() == 1 ? "dict_values" : "dict_items";
    case Kind::kGenerator:
      return "generator";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kMacro:
      return "Macro";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kFunction:
    case Kind::kMethod:
      return "function";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
  }
  return "object";
}

}  // namespace reprise::jinja
