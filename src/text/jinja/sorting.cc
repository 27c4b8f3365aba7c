#include "text/jinja/sorting.h"

#include <charconv>

#include "text/jinja/attributes.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/split.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {

Value sort_by(Runtime& rt, std::span<const Value> items, std::span<const Value> keys, bool reverse) {
  const auto order = stable_order(items.size(), [&](uint32_t a, uint32_t b) {
    rt.charge();
    return reverse ? less(rt, keys[b], keys[a]) : less(rt, keys[a], keys[b]);
  });
  const Value sorted = new_list(rt);
  for (const uint32_t i : order) sorted.list()->push(rt, items[i]);
  return sorted;
}

AttributePath::AttributePath(Value attribute) {
  if (attribute.is(Kind::kNone)) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  for (const std::string_view part : split_on(attribute.text(), ".")) {
    int64_t index = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool digits = !part.empty() && part[0] != '-' && parsed.ec == std::errc() &&
                        parsed.ptr == part.data() + part.size();
    parts_.push_back(digits ? Value::integer(index) : Value::string(part));
  }
}

Value AttributePath::of(Runtime& rt, Value v, const Value* missing) const {
  for (const Value& part : parts_) {
    v = item(rt, v, part);
    if (missing != nullptr && !missing->is(Kind::kNone) && v.is(Kind::kUndefined)) v = *missing;
  }
  return v;
}

Value ignore_case(Runtime& rt, Value v) {
  return v.is_string() ? rt.heap.string(unicode::lower(v.text())) : v;
}

}  // namespace reprise::jinja
