// Python's truth, equality, ordering and hashing of values.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// The error of using an undefined value.
[[noreturn]] void raise_undefined(const Value& v);

bool truthy(const Value& v);
bool equal(Runtime& rt, const Value& a, const Value& b);
bool less(Runtime& rt, const Value& a, const Value& b);  // throws for types that have no order
// a OP b for OP in < <= > >=, exact for numbers (NaN compares false).
enum class Order : uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };
bool ordered(Runtime& rt, Order op, const Value& a, const Value& b);
bool contains(Runtime& rt, const Value& container, const Value& item);  // item in container
uint64_t hash(Runtime& rt, const Value& v);                             // throws for unhashable values
uint64_t hash_text(std::string_view text);
// len(); throws for what has none.
uint64_t length(const Value& v);

}  // namespace reprise::jinja
