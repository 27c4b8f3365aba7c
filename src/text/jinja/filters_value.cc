// Filters over single values: numbers, defaults, attributes, dicts, JSON.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "text/jinja/attributes.h"
#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/json.h"
#include "text/jinja/operators.h"
#include "text/jinja/pretty.h"
#include "text/jinja/print.h"
#include "text/jinja/sorting.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

bool flag(const Value* v) { return v != nullptr && truthy(*v); }

// ---- numbers ----

// Digits with single underscores between them, which Python allows, without those; nothing if malformed.
std::optional<std::string> plain_number(std::string_view s) {
  std::string plain;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '_') {
      plain += s[i];
      continue;
    }
    const auto alnum = [](char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); };
    if (i == 0 || i + 1 == s.size() || !alnum(s[i - 1]) || !alnum(s[i + 1])) return std::nullopt;
  }
  return plain;
}

std::optional<double> parse_float(std::string_view s) {
  s = unicode::strip_left(unicode::strip_right(s));
  const bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  if (s.empty() || s[0] == '-' || s.find('(') != std::string_view::npos) return std::nullopt;
  const auto plain = plain_number(s);
  if (!plain) return std::nullopt;
  double d = 0;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), d);
  if (end != plain->data() + plain->size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) d = std::strtod(plain->c_str(), nullptr);
  return negative ? -d : d;
}

std::optional<Value> parse_int(std::string_view s, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  s = unicode::strip_left(unicode::strip_right(s));
  const bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  const auto prefix = [&](char letter, int64_t of) {
    if (s.size() < 2 || s[0] != '0' || (s[1] | 32) != letter || (base != 0 && base != of)) return false;
    s.remove_prefix(2);
    if (s.starts_with('_')) s.remove_prefix(1);
    base = of;
    return true;
  };
  if (!prefix('x', 16) && !prefix('o', 8) && !prefix('b', 2) && base == 0) {
    base = 10;
    if (s.size() > 1 && s[0] == '0' && s.find_first_not_of("0_") != std::string_view::npos)
      return std::nullopt;
  }
  const auto plain = plain_number(s);
  if (!plain || plain->empty() || plain->front() == '-') return std::nullopt;
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(plain->data(), plain->data() + plain->size(), magnitude, static_cast<int>(base));
  if (end != plain->data() + plain->size()) return std::nullopt;
  if (error != std::errc()) exceed("an integer of the template is too large");
  const auto wide = static_cast<__int128>(magnitude);
  return from_int(negative ? -wide : wide);
}

std::optional<Value> truncated(double d) {
  if (!std::isfinite(d)) return std::nullopt;
  if (std::abs(d) >= 1.8e19) exceed("an integer of the template is too large");
  return from_int(static_cast<__int128>(d));
}

Value to_integer(Runtime&, const Args& args) {
  const auto a = bind<3>("int", args, {"value", "default", "base"}, 1);
  const Value& v = a.at(0);
  const Value fallback = a.or_else(1, Value::integer(0));
  if (v.is_integral()) return from_int(v.as_int());
  if (v.is(Kind::kFloat)) {
    if (std::isinf(v.as_double())) raise("cannot convert float infinity to integer");
    return truncated(v.as_double()).value_or(fallback);
  }
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (!v.is_string()) return fallback;
  if (a[2] == nullptr || a.at(2).is_integral()) {  // Python's int() takes no other base
    if (const auto parsed = parse_int(v.text(), a[2] ? to_index(a.at(2)) : 10)) return *parsed;
  }
  const auto parsed = parse_float(v.text());
  return parsed ? truncated(*parsed).value_or(fallback) : fallback;
}

Value to_float(Runtime&, const Args& args) {
  const auto a = bind<2>("float", args, {"value", "default"}, 1);
  const Value& v = a.at(0);
  if (v.is_number()) return Value::real(to_double(v));
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (v.is_string()) {
    if (const auto parsed = parse_float(v.text())) return Value::real(*parsed);
  }
  return a.or_else(1, Value::real(0));
}

Value absolute(Runtime&, const Args& args) {
  const auto a = bind<1>("abs", args, {""}, 1);
  const Value& v = a.at(0);
  if (v.is(Kind::kFloat)) return Value::real(std::abs(v.as_double()));
  if (v.is_integral()) return from_int(v.as_int() < 0 ? -v.as_int() : v.as_int());
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  raise("bad operand type for abs(): '{}'", type_name(v));
}

__int128 power_of_ten(int64_t n) {
  __int128 p = 1;
  for (; n > 0; --n) p *= 10;
  return p;
}

// Python's round(): half to even, on the exact decimal value of a float.
Value round_half_even(Value v, int64_t digits) {
  if (v.is_integral()) {
    if (digits >= 0) return from_int(v.as_int());
    if (digits < -25) return Value::integer(0);
    const __int128 unit = power_of_ten(-digits);
    const __int128 i = v.as_int();
    __int128 rest = i % unit;
    if (rest < 0) rest += unit;
    __int128 rounded = i - rest;
    if (rest * 2 > unit || (rest * 2 == unit && (rounded / unit) % 2 != 0)) rounded += unit;
    return from_int(rounded);
  }
  const double d = v.as_double();
  if (!std::isfinite(d) || digits > 330) return v;
  if (digits < -310) return Value::real(std::copysign(0.0, d));
  if (digits >= 0) return Value::real(std::strtod(fmt::format("{:.{}f}", d, digits).c_str(), nullptr));
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  return Value::real(std::nearbyint(d / unit) * unit);
}

// Python's round() without a number of digits.
Value integer_of(Value whole) {
  if (whole.is_integral()) return whole;
  if (!std::isfinite(whole.as_double())) raise("cannot convert float infinity or NaN to integer");
  return *truncated(whole.as_double());
}

Value round(Runtime& rt, const Args& args) {
  const auto a = bind<3>("round", args, {"value", "precision", "method"}, 1);
  const Value& v = a.at(0);
  const Value method = a.or_else(2, Value::string("common"));
  if (!method.is_string() ||
      (method.text() != "common" && method.text() != "ceil" && method.text() != "floor")) {
    raise("method must be common, ceil or floor");
  }
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (!v.is_number()) raise("type {} doesn't define __round__ method", type_name(v));
  const Value precision = a.or_else(1, Value::integer(0));
  if (method.text() == "common") {
    if (!precision.is(Kind::kNone)) return round_half_even(v, to_index(precision));
    return integer_of(round_half_even(v, 0));
  }
  const Value unit = arithmetic(rt, Arithmetic::kPower, Value::integer(10), precision);
  const double scaled = to_double(arithmetic(rt, Arithmetic::kMultiply, v, unit));
  if (!std::isfinite(scaled)) raise("cannot convert float infinity or NaN to integer");
  return Value::real((method.text() == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / to_double(unit));
}

Value filesizeformat(Runtime& rt, const Args& args) {
  const auto a = bind<2>("filesizeformat", args, {"value", "binary"}, 1);
  const Value& v = a.at(0);
  const auto parsed = v.is_number()   ? std::optional(to_double(v))
                      : v.is_string() ? parse_float(v.text())
                                      : std::nullopt;
  if (!parsed) raise("could not convert '{}' to a number of bytes", type_name(v));
  const bool binary = flag(a[1]);
  const double base = binary ? 1024 : 1000;
  if (*parsed == 1) return Value::string("1 Byte");
  if (*parsed < base)
    return rt.heap.string(fmt::format("{} Bytes", static_cast<int64_t>(std::max(*parsed, -9e18))));
  double unit = base;
  std::string_view letters = "kMGTPEZY";
  for (size_t i = 0;; ++i) {
    unit *= base;
    if (*parsed >= unit && i + 1 < letters.size()) continue;
    const char letter = binary && i == 0 ? 'K' : letters[i];
    return rt.heap.string(fmt::format("{:.1f} {}{}B", base * *parsed / unit, letter, binary ? "i" : ""));
  }
}

// ---- any value ----

Value default_value(Runtime&, const Args& args) {
  const auto a = bind<3>("default", args, {"value", "default_value", "boolean"}, 1);
  if (a.at(0).is(Kind::kUndefined) || (flag(a[2]) && !truthy(a.at(0))))
    return a.or_else(1, Value::string(""));
  return a.at(0);
}

Value attr(Runtime& rt, const Args& args) {
  const auto a = bind<2>("attr", args, {"obj", "name"}, 2);
  if (!a.at(1).is_string()) raise("attribute name must be string, not '{}'", type_name(a.at(1)));
  // Items are not attributes here: what a dict holds stays undefined.
  if (a.at(0).is(Kind::kDict) && find_dict_method(a.at(1).text()) == nullptr) {
    return Value::undefined(a.at(1).text(), Absence::kAttribute);
  }
  return attribute(rt, a.at(0), a.at(1).text());
}

Value length_of(Runtime& rt, const Args& args) {
  const auto a = bind<1>("length", args, {""}, 1);
  if (a.at(0).is(Kind::kLoop)) {
    return attribute(rt, a.at(0), "length");
  }
  return Value::integer(static_cast<int64_t>(length(a.at(0))));
}

Value items(Runtime& rt, const Args& args) {
  const auto a = bind<1>("items", args, {"value"}, 1);
  return lazily(rt, [&](List& pairs) {
    if (a.at(0).is(Kind::kUndefined)) return;
    if (!a.at(0).is(Kind::kDict)) raise("Can only get item pairs from a mapping.");
    pairs = *dict_view(rt, *a.at(0).dict(), ViewKind::kItems).list();
  });
}

Value dictsort(Runtime& rt, const Args& args) {
  const auto a = bind<4>("dictsort", args, {"value", "case_sensitive", "by", "reverse"}, 1);
  const Value by = a.or_else(2, Value::string("key"));
  if (!by.is_string() || (by.text() != "key" && by.text() != "value")) {
    raise("You can only sort by either \"key\" or \"value\"");
  }
  if (a.at(0).is(Kind::kUndefined)) raise_undefined(a.at(0));
  if (!a.at(0).is(Kind::kDict)) raise("'{}' object has no attribute 'items'", type_name(a.at(0)));
  const Value pairs = dict_view(rt, *a.at(0).dict(), ViewKind::kItems);
  std::vector<Value> keys;
  for (const Value& pair : pairs.list()->span()) {
    const Value& key = pair.list()->items[by.text() == "key" ? 0 : 1];
    keys.push_back(flag(a[1]) ? key : ignore_case(rt, key));
  }
  return sort_by(rt, pairs.list()->span(), keys, flag(a[3]));
}

Value tojson(Runtime& rt, const Args& args) {
  const auto a = bind<5>("tojson", args, {"x", "ensure_ascii", "indent", "separators", "sort_keys"}, 1);
  JsonStyle style;
  style.ensure_ascii = flag(a[1]);
  style.sort_keys = flag(a[4]);
  if (a.given(2)) {
    style.pretty = true;
    style.item_separator = ",";
    const Value& indent = a.at(2);
    if (indent.is_string()) {
      style.indent = indent.text();
    } else {
      const int64_t width = std::max<int64_t>(to_index(indent), 0);
      rt.heap.require(static_cast<size_t>(width));
      style.indent = rt.heap.string(std::string(static_cast<size_t>(width), ' ')).text();
    }
  }
  if (a.given(3)) {
    const Sequence separators = iterate(rt, a.at(3));
    if (separators.size() != 2 || !separators.at(0).is_string() || !separators.at(1).is_string()) {
      raise("separators must be two strings");
    }
    style.item_separator = separators.at(0).text();
    style.key_separator = separators.at(1).text();
  }
  return to_json(rt, a.at(0), style);
}

Value pprint(Runtime& rt, const Args& args) {
  return pretty_print(rt, bind<1>("pprint", args, {"value"}, 1).at(0));
}

constexpr std::array kFilters = std::to_array<NamedBuiltin>({
    {"abs", absolute},
    {"attr", attr},
    {"count", length_of},
    {"d", default_value},
    {"default", default_value},
    {"dictsort", dictsort},
    {"filesizeformat", filesizeformat},
    {"float", to_float},
    {"int", to_integer},
    {"items", items},
    {"length", length_of},
    {"pprint", pprint},
    {"round", round},
    {"tojson", tojson},
});

}  // namespace

std::span<const NamedBuiltin> value_filters() { return kFilters; }

}  // namespace reprise::jinja
