// Python's truth, equality, ordering and hashing of values.
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// The error of using an undefined value.
[[noreturn]] void raise_undefined(Value v);

// a == b for texts of one size up to kShortText, as names mostly are: a few loads instead of a call.
constexpr size_t kShortText = 32;
inline bool same_short_text(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  const auto same = [&]<typename Word>(Word, size_t at) {
    Word words[2];
    std::memcpy(&words[0], a.data() + at, sizeof(Word));
    std::memcpy(&words[1], b.data() + at, sizeof(Word));
    return words[0] == words[1];
  };
  const uint64_t wide = 0;
  if (size > 16 && !(same(wide, 8) && same(wide, size - 16))) return false;
  if (size >= 8) return same(wide, 0) && same(wide, size - 8);
  if (size >= 4) return same(uint32_t{}, 0) && same(uint32_t{}, size - 4);
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}
inline bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  return a.size() <= kShortText ? same_short_text(a, b) : std::memcmp(a.data(), b.data(), a.size()) == 0;
}

bool truthy_object(Value v);
inline bool truthy(Value v) {
  if (v.is(Kind::kBool)) return v.as_bool();
  if (v.is_string()) return !v.text().empty();
  return truthy_object(v);
}
bool equal_objects(Runtime& rt, Value a, Value b);
inline bool equal(Runtime& rt, Value a, Value b) {
  if (!a.is_string() || !b.is_string()) return equal_objects(rt, a, b);
  if (a.text().size() >= 64) rt.charge(a.text().size() / 64);
  return same_text(a.text(), b.text());
}
// a OP b for OP in < <= > >=, exact for numbers (NaN compares false).
enum class Order : uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };
constexpr bool holds(Order op, std::partial_ordering order) {
  return op == Order::kLess        ? order < 0
         : op == Order::kLessEqual ? order <= 0
         : op == Order::kGreater   ? order > 0
                                   : order >= 0;
}
// Throws for types that have no order, naming the operator.
std::partial_ordering order(Runtime& rt, Order op, Value a, Value b);
inline bool ordered(Runtime& rt, Order op, Value a, Value b) {
  if (a.is_small_int() && b.is_small_int()) return holds(op, a.as_small_int() <=> b.as_small_int());
  return holds(op, order(rt, op, a, b));
}
inline bool less(Runtime& rt, Value a, Value b) { return ordered(rt, Order::kLess, a, b); }
bool contains(Runtime& rt, Value container, Value item);  // item in container
uint64_t hash(Runtime& rt, Value v);                      // throws for unhashable values
uint64_t hash_text(std::string_view text);
// len(); throws for what has none.
uint64_t length(Value v);

}  // namespace reprise::jinja
