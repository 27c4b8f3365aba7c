// Integers are computed in 128 bits and checked when they become a value again, so nothing overflows
// silently.
#include "text/jinja/operators.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/format.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

const char* symbol(Arithmetic op) {
  switch (op) {
    case Arithmetic::kAdd:
      return "+";
    case Arithmetic::kSubtract:
      return "-";
    case Arithmetic::kMultiply:
      return "*";
    case Arithmetic::kDivide:
      return "/";
    case Arithmetic::kFloorDivide:
      return "//";
    case Arithmetic::kModulo:
      return "%";
    case Arithmetic::kPower:
      return "** or pow()";
  }
  return "?";
}

[[noreturn]] void unsupported(Arithmetic op, Value a, Value b) {
  if (a.is(Kind::kUndefined)) raise_undefined(a);
  if (b.is(Kind::kUndefined)) raise_undefined(b);
  if (op == Arithmetic::kAdd && a.is_string()) {
    raise("can only concatenate str (not \"{}\") to str", type_name(b));
  }
  raise("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op), type_name(a), type_name(b));
}

__int128 floor_divide(__int128 a, __int128 b) {
  const __int128 q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

// Python's float %: the sign of the divisor.
double modulo(double a, double b) {
  double m = std::fmod(a, b);
  if (m != 0) {
    if ((b < 0) != (m < 0)) m += b;
  } else {
    m = std::copysign(0.0, b);
  }
  return m;
}

double floor_divide(double a, double b) {
  const double m = modulo(a, b);
  const double q = (a - m) / b;
  if (q == 0) return std::copysign(0.0, a / b);
  double f = std::floor(q);
  if (q - f > 0.5) f += 1;
  return f;
}

Value power(Value a, Value b) {
  if (a.is_integral() && b.is_integral() && b.as_int() >= 0) {
    __int128 base = a.as_int();
    __int128 exponent = b.as_int();
    __int128 result = 1;
    if (exponent > 64 && base != 0 && base != 1 && base != -1) exceed("integer result of ** is too large");
    if (base == -1 || base == 0 || base == 1) exponent = exponent == 0 ? 0 : 2 - exponent % 2;
    for (; exponent > 0; --exponent) {
      if (__builtin_mul_overflow(result, base, &result)) exceed("integer result of ** is too large");
    }
    return from_int(result);
  }
  const double x = to_double(a);
  const double y = to_double(b);
  if (x == 0 && y < 0) raise("0.0 cannot be raised to a negative power");
  if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y)) {
    raise("a negative number to a fractional power is complex, which templates do not have");
  }
  const double result = std::pow(x, y);
  if (std::isinf(result) && std::isfinite(x) && std::isfinite(y)) raise("numerical result out of range");
  return Value::real(result);
}

Value integers(Arithmetic op, __int128 a, __int128 b) {
  switch (op) {
    case Arithmetic::kAdd:
      return from_int(a + b);
    case Arithmetic::kSubtract:
      return from_int(a - b);
    case Arithmetic::kMultiply: {
      __int128 product = 0;
      if (__builtin_mul_overflow(a, b, &product)) exceed("integer result of * is too large");
      return from_int(product);
    }
    case Arithmetic::kDivide:
      if (b == 0) raise("division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Arithmetic::kFloorDivide:
      if (b == 0) raise("integer division or modulo by zero");
      return from_int(floor_divide(a, b));
    default:
      if (b == 0) raise("integer modulo by zero");
      return from_int(a - floor_divide(a, b) * b);
  }
}

Value reals(Arithmetic op, double a, double b) {
  switch (op) {
    case Arithmetic::kAdd:
      return Value::real(a + b);
    case Arithmetic::kSubtract:
      return Value::real(a - b);
    case Arithmetic::kMultiply:
      return Value::real(a * b);
    case Arithmetic::kDivide:
      if (b == 0) raise("float division by zero");
      return Value::real(a / b);
    case Arithmetic::kFloorDivide:
      if (b == 0) raise("float floor division by zero");
      return Value::real(floor_divide(a, b));
    default:
      if (b == 0) raise("float modulo");
      return Value::real(modulo(a, b));
  }
}

Value join_lists(Runtime& rt, Value a, Value b) {
  const Value joined = new_list(rt, a.list()->span());
  rt.charge((a.list()->size + b.list()->size) / 8);
  for (uint32_t i = 0, n = b.list()->size; i < n; ++i) joined.list()->push(rt, b.list()->items[i]);
  return Value::object(a.kind(), joined.list());
}

Value repeat(Runtime& rt, Value v, __int128 times) {
  const __int128 count = std::max<__int128>(times, 0);
  const __int128 limit = static_cast<__int128>(rt.heap.remaining());
  if (v.is_string()) {
    const size_t size = v.text().size();
    if (size == 0 || count == 0) return Value::string("", v.safe());
    if (count > limit / static_cast<__int128>(size)) rt.heap.require(rt.heap.remaining() + 1);
    Builder out(rt);
    out.raw().reserve(size * static_cast<size_t>(count));
    for (__int128 i = 0; i < count; ++i) out.append(v.text());
    return out.finish(v.safe());
  }
  const List& list = *v.list();
  if (list.size != 0 && count > limit / static_cast<__int128>(list.size * sizeof(Value))) {
    rt.heap.require(rt.heap.remaining() + 1);
  }
  const Value result = new_list(rt);
  for (__int128 i = 0; list.size != 0 && i < count; ++i) {
    rt.charge(list.size / 8 + 1);
    for (uint32_t k = 0; k < list.size; ++k) result.list()->push(rt, list.items[k]);
  }
  return Value::object(v.kind(), result.list());
}

}  // namespace

Value from_int(__int128 i) {
  if (i < INT64_MIN || i > static_cast<__int128>(UINT64_MAX))
    exceed("an integer of the template is too large");
  return i > INT64_MAX ? Value::unsigned_integer(static_cast<uint64_t>(i))
                       : Value::integer(static_cast<int64_t>(i));
}

double to_double(Value v) { return v.is(Kind::kFloat) ? v.as_double() : static_cast<double>(v.as_int()); }

Value arithmetic(Runtime& rt, Arithmetic op, Value a, Value b) {
  if (a.is_number() && b.is_number()) {
    if (op == Arithmetic::kPower) return power(a, b);
    if (a.is_integral() && b.is_integral()) return integers(op, a.as_int(), b.as_int());
    return reals(op, to_double(a), to_double(b));
  }
  if (op == Arithmetic::kAdd) {
    if (a.is_string() && b.is_string()) {
      rt.charge(b.text().size() / 256);
      if (a.safe() == b.safe()) return rt.heap.concat(a, b.text());
      return rt.heap.concat(escape(rt, a), escape(rt, b).text());
    }
    if (a.is_listlike() && a.kind() == b.kind()) return join_lists(rt, a, b);
  } else if (op == Arithmetic::kMultiply) {
    if ((a.is_string() || a.is_listlike()) && b.is_integral()) return repeat(rt, a, b.as_int());
    if ((b.is_string() || b.is_listlike()) && a.is_integral()) return repeat(rt, b, a.as_int());
  } else if (op == Arithmetic::kModulo && a.is_string()) {
    return format_percent(rt, a, b);
  }
  unsupported(op, a, b);
}

Value negate(Value v) {
  if (v.is(Kind::kFloat)) return Value::real(-v.as_double());
  if (v.is_integral()) return from_int(-v.as_int());
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  raise("bad operand type for unary -: '{}'", type_name(v));
}

Value affirm(Value v) {
  if (v.is(Kind::kFloat)) return v;
  if (v.is_integral()) return from_int(v.as_int());
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  raise("bad operand type for unary +: '{}'", type_name(v));
}

int64_t to_index(Value v) {
  if (!v.is_integral()) {
    if (v.is(Kind::kUndefined)) raise_undefined(v);
    raise("'{}' object cannot be interpreted as an integer", type_name(v));
  }
  return static_cast<int64_t>(std::clamp<__int128>(v.as_int(), INT64_MIN, INT64_MAX));
}

std::optional<Value> subscript(Runtime& rt, Value v, Value key) {
  switch (v.kind()) {
    case Kind::kUndefined:
      raise_undefined(v);
    case Kind::kDict: {
      if (key.is(Kind::kList) || key.is(Kind::kDict) || key.is(Kind::kNamespace)) return std::nullopt;
      const Value* found = v.dict()->find(rt, key);
      return found ? std::optional(*found) : std::nullopt;
    }
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange: {
      if (!key.is_integral()) return std::nullopt;
      auto size = static_cast<__int128>(length(v));
      __int128 i = key.as_int();
      if (i < 0) i += size;
      if (i < 0 || i >= size) return std::nullopt;
      const auto at = static_cast<size_t>(i);
      if (v.is(Kind::kRange)) return v.as<Range>()->at(at);
      if (v.is_listlike()) return v.list()->items[at];
      const std::string_view text = v.text();
      rt.charge(text.size() / 64);
      const size_t start = unicode::offset(text, at);
      return Value::string(text.substr(start, unicode::next(text, start) - start), v.safe());
    }
    default:
      return std::nullopt;
  }
}

Value slice(Runtime& rt, Value v, const SliceBounds& bounds) {
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  if (!v.is_string() && !v.is_listlike() && !v.is(Kind::kRange)) {
    raise("'{}' object cannot be sliced", type_name(v));
  }
  const auto size = static_cast<int64_t>(length(v));
  const int64_t step = bounds.step.value_or(1);
  if (step == 0) raise("slice step cannot be zero");
  const auto clip = [&](int64_t i) -> int64_t {
    if (i < 0) i += size;  // size >= 0 and i < 0: no overflow
    return step > 0 ? std::clamp<int64_t>(i, 0, size) : std::clamp<int64_t>(i, -1, size - 1);
  };
  const int64_t start = bounds.start ? clip(*bounds.start) : step > 0 ? 0 : size - 1;
  const int64_t stop = bounds.stop ? clip(*bounds.stop) : step > 0 ? size : -1;
  uint64_t count = 0;
  if (step > 0 && start < stop)
    count = static_cast<uint64_t>(stop - start - 1) / static_cast<uint64_t>(step) + 1;
  if (step < 0 && start > stop) {
    count = static_cast<uint64_t>(start - stop - 1) / (uint64_t{0} - static_cast<uint64_t>(step)) + 1;
  }
  rt.charge(count / 16);
  const auto at = [&](uint64_t k) {
    return static_cast<size_t>(start + static_cast<int64_t>(k) * (count > 1 ? step : 0));
  };
  switch (v.kind()) {
    case Kind::kString: {
      const std::string_view text = v.text();
      rt.charge(text.size() / 64);
      if (step == 1) {
        const size_t from = unicode::offset(text, static_cast<size_t>(start));
        const std::string_view rest = text.substr(from);
        return Value::string(rest.substr(0, unicode::offset(rest, count)), v.safe());
      }
      const Sequence characters = iterate(rt, v);
      Builder out(rt);
      for (uint64_t k = 0; k < count; ++k) out.append(characters.at(at(k)).text());
      return out.finish(v.safe());
    }
    case Kind::kList:
    case Kind::kTuple: {
      auto* list = rt.heap.make<List>();
      list->items = rt.heap.array<Value>(count);
      list->capacity = static_cast<uint32_t>(count);
      list->size = list->capacity;
      if (step == 1) {
        std::copy_n(v.list()->items + at(0), count, list->items);
      } else {
        for (uint64_t k = 0; k < count; ++k) list->items[k] = v.list()->items[at(k)];
      }
      return Value::object(v.kind(), list);
    }
    case Kind::kRange: {
      const Range& r = *v.as<Range>();
      const auto value_at = [&](int64_t i) {  // the end may lie one step past the last element
        const __int128 value = r.start + static_cast<__int128>(r.step) * i;
        return static_cast<int64_t>(std::clamp<__int128>(value, INT64_MIN, INT64_MAX));
      };
      return Value::object(Kind::kRange, rt.heap.make<Range>(value_at(start), r.step * (count > 1 ? step : 1),
                                                             static_cast<uint32_t>(count), value_at(stop)));
    }
    default:
      raise("'{}' object is not subscriptable", type_name(v));
  }
}

}  // namespace reprise::jinja
