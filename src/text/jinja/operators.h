// Python's arithmetic and subscripts on template values.
#pragma once

#include <cstdint>
#include <optional>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };

Value arithmetic(Runtime& rt, Arithmetic op, Value a, Value b);
Value negate(Value v);
Value affirm(Value v);  // unary plus

// The integer as a value; kTooLarge past [-2^63, 2^64).
Value from_int(__int128 i);
double to_double(Value v);  // of a number

// v[start:stop:step] with absent parts; throws where Python does.
struct SliceBounds {
  std::optional<int64_t> start, stop, step;
};
Value slice(Runtime& rt, Value v, const SliceBounds& bounds);
// An index for Python's sequence protocol: int or bool; throws otherwise.
int64_t to_index(Value v);

// v[key] as Python does it, or nothing where Python raises LookupError or TypeError.
std::optional<Value> subscript(Runtime& rt, Value v, Value key);

}  // namespace reprise::jinja
