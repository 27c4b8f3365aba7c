// Filters over sequences. What jinja2 computes lazily is computed at once here and returned as a generator,
// so it can be walked once and has no length, as in Python.
#include <algorithm>
#include <array>
#include <vector>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/sorting.h"
#include "text/jinja/text_operations.h"

namespace reprise::jinja {
namespace {

Value to_list(Runtime& rt, Value v) {
  const Sequence s = iterate(rt, v);
  rt.charge(s.size() / 8);
  const Value list = new_list(rt);
  for (size_t i = 0, n = s.size(); i < n; ++i) list.list()->push(rt, s.at(i));
  return list;
}

// The keys that items are compared by: their attribute, in lower case unless told otherwise.
std::vector<Value> keys_of(Runtime& rt, const List& items, Value attribute, bool case_sensitive,
                           const Value* missing = nullptr) {
  const AttributePath path(attribute);
  std::vector<Value> keys;
  keys.reserve(items.size);
  for (const Value& v : items.span()) {
    rt.charge();
    const Value key = path.of(rt, v, missing);
    keys.push_back(case_sensitive ? key : ignore_case(rt, key));
  }
  return keys;
}

bool flag(const Value* v) { return v != nullptr && truthy(*v); }

Value list(Runtime& rt, const Args& args) { return to_list(rt, bind<1>("list", args, {"value"}, 1).at(0)); }

Value first(Runtime& rt, const Args& args) {
  const auto a = bind<1>("first", args, {"seq"}, 1);
  const Value& v = a.at(0);
  if (v.is(Kind::kGenerator)) {
    List& rest = *v.list();
    if (rest.cursor < rest.size) return rest.items[rest.cursor++];
    if (rest.failure.is_string()) raise("{}", rest.failure.text());
  } else if (const Sequence s = iterate(rt, v); s.size() > 0) {
    return s.at(0);
  }
  return Value::undefined("No first item, sequence was empty.", Absence::kText);
}

Value last(Runtime& rt, const Args& args) {
  const auto a = bind<1>("last", args, {"seq"}, 1);
  if (a.at(0).is(Kind::kGenerator)) raise("'generator' object is not reversible");
  const Sequence s = iterate(rt, a.at(0));
  if (s.size() > 0) return s.at(s.size() - 1);
  return Value::undefined("No last item, sequence was empty.", Absence::kText);
}

Value random(Runtime& rt, const Args& args) {
  const auto a = bind<1>("random", args, {"seq"}, 1);
  const Value items = to_list(rt, a.at(0));
  const uint32_t size = items.list()->size;
  if (size == 0) return Value::undefined("No random item, sequence was empty.", Absence::kText);
  // Any item will do; the clock of the render keeps it reproducible.
  return items.list()->items[(static_cast<uint64_t>(rt.now) * 0x9E3779B97F4A7C15u >> 32) % size];
}

Value reverse(Runtime& rt, const Args& args) {
  const auto a = bind<1>("reverse", args, {"value"}, 1);
  if (a.at(0).is_string()) return slice(rt, a.at(0), SliceBounds{.step = -1});
  const Value items = to_list(rt, a.at(0));
  std::ranges::reverse(items.list()->span());
  return a.at(0).is(Kind::kGenerator) ? items : new_generator(rt, items);
}

Value sort(Runtime& rt, const Args& args) {
  const auto a = bind<4>("sort", args, {"value", "reverse", "case_sensitive", "attribute"}, 1);
  const Value items = to_list(rt, a.at(0));
  const List& list = *items.list();
  const Value attribute = a.or_else(3, Value::none());
  const bool case_sensitive = flag(a[2]);
  // Lists of the attributes are the keys, of one too: equal ones, missing ones say, are never asked for their
  // order.
  std::vector<Value> keys(list.size);
  for (Value& key : keys) key = new_list(rt);
  std::string_view rest = attribute.is_string() ? attribute.text() : std::string_view();
  while (true) {
    const size_t comma = rest.find(',');
    const auto part = keys_of(
        rt, list, attribute.is_string() ? Value::string(rest.substr(0, comma)) : attribute, case_sensitive);
    for (size_t i = 0; i < keys.size(); ++i) keys[i].list()->push(rt, part[i]);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return sort_by(rt, list.span(), keys, flag(a[1]));
}

Value unique(Runtime& rt, const Args& args) {
  const auto a = bind<3>("unique", args, {"value", "case_sensitive", "attribute"}, 1);
  return lazily(rt, [&](List& kept) {
    const Value items = to_list(rt, a.at(0));
    const auto keys = keys_of(rt, *items.list(), a.or_else(2, Value::none()), flag(a[1]));
    const Value seen = new_dict(rt);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (seen.dict()->find(rt, keys[i])) continue;
      seen.dict()->set(rt, keys[i], Value::none());
      kept.push(rt, items.list()->items[i]);
    }
  });
}

template <bool greatest>
Value extreme(Runtime& rt, const Args& args) {
  const auto a = bind<3>("min", args, {"value", "case_sensitive", "attribute"}, 1);
  const Value items = to_list(rt, a.at(0));
  if (items.list()->size == 0)
    return Value::undefined("No aggregated item, sequence was empty.", Absence::kText);
  const auto keys = keys_of(rt, *items.list(), a.or_else(2, Value::none()), flag(a[1]));
  size_t best = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    if (greatest ? ordered(rt, Order::kGreater, keys[i], keys[best]) : less(rt, keys[i], keys[best]))
      best = i;
  }
  return items.list()->items[best];
}

Value sum(Runtime& rt, const Args& args) {
  const auto a = bind<3>("sum", args, {"iterable", "attribute", "start"}, 1);
  const AttributePath path(a.or_else(1, Value::none()));
  Value total = a.or_else(2, Value::integer(0));
  if (total.is_string()) raise("sum() can't sum strings [use ''.join(seq) instead]");
  const Sequence s = iterate(rt, a.at(0));
  for (size_t i = 0; i < s.size(); ++i) {
    rt.charge();
    total = arithmetic(rt, Arithmetic::kAdd, total, path.of(rt, s.at(i)));
  }
  return total;
}

Value batch(Runtime& rt, const Args& args) {
  const auto a = bind<3>("batch", args, {"value", "linecount", "fill_with"}, 2);
  return lazily(rt, [&](List& lines) {
    const Sequence s = iterate(rt, a.at(0));
    // A count that is no number equals no length: one line.
    const double count = a.at(1).is_number() ? to_double(a.at(1)) : -1;
    Value line = new_list(rt);
    for (size_t i = 0; i < s.size(); ++i) {
      rt.charge();
      if (static_cast<double>(line.list()->size) == count) {
        lines.push(rt, line);
        line = new_list(rt);
      }
      line.list()->push(rt, s.at(i));
    }
    if (line.list()->size == 0) return;
    if (a.given(2)) {
      if (!a.at(1).is_number()) raise("batch() needs a number of items, not {}", type_name(a.at(1)));
      while (static_cast<double>(line.list()->size) < count) {
        rt.charge();
        line.list()->push(rt, a.at(2));
      }
    }
    lines.push(rt, line);
  });
}

Value slices(Runtime& rt, const Args& args) {
  const auto a = bind<3>("slice", args, {"value", "slices", "fill_with"}, 2);
  return lazily(rt, [&](List& result) {
    const Value items = to_list(rt, a.at(0));
    const auto length = static_cast<int64_t>(items.list()->size);
    const int64_t count = to_index(a.at(1));
    if (count == 0) raise("integer division or modulo by zero");
    int64_t start = 0;
    for (int64_t i = 0; i < count; ++i) {
      rt.charge();
      const int64_t size = length / count + (i < length % count ? 1 : 0);
      const auto members =
          items.list()->span().subspan(static_cast<size_t>(start), static_cast<size_t>(size));
      const Value part = new_list(rt, members);
      start += size;
      if (a.given(2) && i >= length % count) part.list()->push(rt, a.at(2));
      result.push(rt, part);
    }
  });
}

Value groupby(Runtime& rt, const Args& args) {
  const auto a = bind<4>("groupby", args, {"value", "attribute", "default", "case_sensitive"}, 2);
  const bool case_sensitive = flag(a[3]);
  Value items = to_list(rt, a.at(0));
  const auto unsorted = keys_of(rt, *items.list(), a.at(1), case_sensitive, a[2]);
  items = sort_by(rt, items.list()->span(), unsorted, false);
  const auto keys = keys_of(rt, *items.list(), a.at(1), case_sensitive, a[2]);
  const AttributePath path(a.at(1));
  const Value groups = new_list(rt);
  for (size_t i = 0; i < keys.size();) {
    size_t end = i + 1;
    while (end < keys.size() && equal(rt, keys[i], keys[end])) ++end;
    const auto members = items.list()->span().subspan(i, end - i);
    const Value grouper = case_sensitive ? keys[i] : path.of(rt, members[0], a[2]);
    const Value pair = new_pair(rt, grouper, new_list(rt, members));
    groups.list()->push(rt, Value::object(Kind::kTuple, pair.list(), 1));
    i = end;
  }
  return groups;
}

Value join_filter(Runtime& rt, const Args& args) {
  const auto a = bind<3>("join", args, {"value", "d", "attribute"}, 1);
  const Value separator = to_str(rt, a.or_else(1, Value::string("")));
  if (!a.given(2)) return join(rt, separator, a.at(0), true);
  const AttributePath path(a.at(2));
  const Sequence s = iterate(rt, a.at(0));
  const Value parts = new_list(rt);
  for (size_t i = 0; i < s.size(); ++i) parts.list()->push(rt, path.of(rt, s.at(i)));
  return join(rt, separator, parts, true);
}

constexpr std::array kFilters = std::to_array<NamedBuiltin>({
    {"batch", batch},
    {"first", first},
    {"groupby", groupby},
    {"join", join_filter},
    {"last", last},
    {"list", list},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"random", random},
    {"reverse", reverse},
    {"slice", slices},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
});

}  // namespace

std::span<const NamedBuiltin> sequence_filters() { return kFilters; }

}  // namespace reprise::jinja
