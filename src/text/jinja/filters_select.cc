// Filters that apply another filter or a test to each item: map, select, reject, selectattr, rejectattr.
#include <array>
#include <vector>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/sorting.h"

namespace reprise::jinja {
namespace {

// Calls `builtin` for one item after another with the same further arguments.
class ForEach {
 public:
  ForEach(Builtin builtin, std::span<const Value> more, std::span<const NamedArg> named)
      : builtin_(builtin), positional_(1), named_(named) {
    positional_.insert(positional_.end(), more.begin(), more.end());
  }
  Value operator()(Runtime& rt, Value item) {
    positional_[0] = item;
    return builtin_(rt, Args{positional_, named_});
  }

 private:
  Builtin builtin_;
  std::vector<Value> positional_;
  std::span<const NamedArg> named_;
};

const Value& piped(const Args& args) {
  if (args.positional.empty()) raise("a filter needs a value");
  return args.positional[0];
}

std::string_view builtin_name(Value v, std::string_view what) {
  if (!v.is_string()) raise("No {} named by a value of type {}", what, type_name(v));
  return v.text();
}

void map_attribute(Runtime& rt, List& result, Value value, const Args& args) {
  const Value* attribute = nullptr;
  const Value* missing = nullptr;
  for (const NamedArg& named : args.named) {
    if (named.name == "attribute") {
      attribute = &named.value;
    } else if (named.name == "default") {
      missing = &named.value;
    } else {
      raise("Unexpected keyword argument '{}'", named.name);
    }
  }
  if (attribute == nullptr) raise("map requires a filter argument");
  const AttributePath path(*attribute);
  const Sequence items = iterate(rt, value);
  for (size_t i = 0; i < items.size(); ++i) {
    rt.charge();
    result.push(rt, path.of(rt, items.at(i), missing));
  }
}

Value map(Runtime& rt, const Args& args) {
  const Value& value = piped(args);
  const auto more = args.positional.subspan(1);
  return lazily(rt, [&](List& result) {
    if (!truthy(value)) return;
    if (more.empty()) return map_attribute(rt, result, value, args);
    const std::string_view name = builtin_name(more[0], "filter");
    const Builtin filter = find_filter(name);
    if (filter == nullptr) raise("No filter named '{}'.", name);
    ForEach apply(filter, more.subspan(1), args.named);
    const Sequence items = iterate(rt, value);
    for (size_t i = 0; i < items.size(); ++i) {
      rt.charge();
      result.push(rt, apply(rt, items.at(i)));
    }
  });
}

template <bool wanted, bool by_attribute>
Value select(Runtime& rt, const Args& args) {
  const Value& value = piped(args);
  return lazily(rt, [&](List& result) {
    if (!truthy(value)) return;
    auto more = args.positional.subspan(1);
    if (by_attribute && more.empty()) raise("Missing parameter for attribute name");
    const AttributePath path(by_attribute ? more[0] : Value::none());
    if (by_attribute) more = more.subspan(1);
    Builtin test = nullptr;
    if (!more.empty()) {
      const std::string_view name = builtin_name(more[0], "test");
      test = find_test(name);
      if (test == nullptr) raise("No test named '{}'.", name);
      more = more.subspan(1);
    }
    ForEach apply(test, more, args.named);
    const Sequence items = iterate(rt, value);
    for (size_t i = 0; i < items.size(); ++i) {
      rt.charge();
      const Value item = items.at(i);
      const Value tested = path.of(rt, item);
      if (truthy(test != nullptr ? apply(rt, tested) : tested) == wanted) result.push(rt, item);
    }
  });
}

constexpr std::array kFilters = std::to_array<NamedBuiltin>({
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
});

}  // namespace

std::span<const NamedBuiltin> select_filters() { return kFilters; }

}  // namespace reprise::jinja
