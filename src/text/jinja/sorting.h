// Stable sorting of values by key, and the keys that filters sort and group by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// The order 0..n-1 sorted stably by less(a, b) over indices: a merge sort, which stays inside its arrays
// whatever `less` answers (NaN makes Python's order inconsistent, which std::sort does not forgive).
template <typename Less>
std::vector<uint32_t> stable_order(size_t n, const Less& less) {
  std::vector<uint32_t> order(n);
  std::vector<uint32_t> merged(n);
  std::iota(order.begin(), order.end(), 0);
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t start = 0; start < n; start += 2 * width) {
      const auto at = [&](size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(std::min(i, n)); };
      std::merge(at(start), at(start + width), at(start + width), at(start + 2 * width),
                 merged.begin() + static_cast<std::ptrdiff_t>(start), less);
    }
    order.swap(merged);
  }
  return order;
}

// A list of `items` ordered by `keys` (one each). Reversed order keeps equal items in their original order,
// as in Python.
Value sort_by(Runtime& rt, std::span<const Value> items, std::span<const Value> keys, bool reverse);

// The `attribute` argument of filters: a dotted path of names and indices, parsed once.
class AttributePath {
 public:
  // None gives the empty path, which means the item itself.
  explicit AttributePath(Value attribute);
  Value of(Runtime& rt, Value item, const Value* missing = nullptr) const;

 private:
  std::vector<Value> parts_;
};

// A string in lower case, anything else as it is: how filters compare unless told to be case sensitive.
Value ignore_case(Runtime& rt, Value v);

}  // namespace reprise::jinja
