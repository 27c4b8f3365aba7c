// Stable sorting of values by key, and the keys that filters sort and group by.
#pragma once

#include <span>
#include <vector>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// A list of `items` ordered by `keys` (one each). Reversed order keeps equal items in their original order,
// as in Python.
Value sort_by(Runtime& rt, std::span<const Value> items, std::span<const Value> keys, bool reverse);

// The `attribute` argument of filters: a dotted path of names and indices, parsed once.
class AttributePath {
 public:
  // None gives the empty path, which means the item itself.
  explicit AttributePath(const Value& attribute);
  Value of(Runtime& rt, Value item, const Value* missing = nullptr) const;

 private:
  std::vector<Value> parts_;
};

// A string in lower case, anything else as it is: how filters compare unless told to be case sensitive.
Value ignore_case(Runtime& rt, const Value& v);

}  // namespace reprise::jinja
