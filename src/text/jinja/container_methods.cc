// The methods of Python's list, tuple, dict and numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"
#include "text/jinja/sorting.h"

namespace reprise::jinja {
namespace {

// ---- list ----

Value append(Runtime& rt, Value self, const Args& args) {
  self.list()->push(rt, bind<1>("append", args, {""}, 1).at(0));
  return Value::none();
}

Value extend(Runtime& rt, Value self, const Args& args) {
  const Sequence more = iterate(rt, bind<1>("extend", args, {""}, 1).at(0));
  const size_t size = more.size();
  rt.charge(size / 8);
  for (size_t i = 0; i < size; ++i) self.list()->push(rt, more.at(i));
  return Value::none();
}

Value insert(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("insert", args, {"", ""}, 2);
  List& list = *self.list();
  int64_t at = to_index(a.at(0));
  if (at < 0) at += list.size;
  at = std::clamp<int64_t>(at, 0, list.size);
  rt.charge(list.size / 64);
  list.push(rt, a.at(1));
  std::rotate(list.items + at, list.items + list.size - 1, list.items + list.size);
  return Value::none();
}

Value pop(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("pop", args, {""});
  List& list = *self.list();
  if (list.size == 0) raise("pop from empty list");
  int64_t at = a[0] ? to_index(a.at(0)) : -1;
  if (at < 0) at += list.size;
  if (at < 0 || at >= list.size) raise("pop index out of range");
  rt.charge(list.size / 64);
  const Value v = list.items[at];
  std::move(list.items + at + 1, list.items + list.size, list.items + at);
  --list.size;
  return v;
}

// In a list or tuple.
int64_t find(Runtime& rt, Value self, Value wanted, int64_t start = 0, int64_t end = INT64_MAX) {
  const List& list = *self.list();
  const auto clip = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + list.size : i, 0, list.size); };
  end = clip(end);
  for (int64_t i = clip(start); i < end; ++i) {
    rt.charge();
    if (equal(rt, list.items[i], wanted)) return i;
  }
  return -1;
}

Value remove(Runtime& rt, Value self, const Args& args) {
  const int64_t at = find(rt, self, bind<1>("remove", args, {""}, 1).at(0));
  if (at < 0) raise("list.remove(x): x not in list");
  List& list = *self.list();
  std::move(list.items + at + 1, list.items + list.size, list.items + at);
  --list.size;
  return Value::none();
}

Value index(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<3>("index", args, {"", "", ""}, 1);
  const int64_t at =
      find(rt, self, a.at(0), a[1] ? to_index(a.at(1)) : 0, a[2] ? to_index(a.at(2)) : INT64_MAX);
  if (at < 0) raise("the value is not in the list");
  return Value::integer(at);
}

Value count(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("count", args, {""}, 1);
  int64_t n = 0;
  for (const Value& v : self.list()->span()) {
    rt.charge();
    n += equal(rt, v, a.at(0));
  }
  return Value::integer(n);
}

Value clear(Runtime&, Value self, const Args& args) {
  bind<0>("clear", args, {});
  self.list()->size = 0;
  return Value::none();
}

Value copy(Runtime& rt, Value self, const Args& args) {
  bind<0>("copy", args, {});
  return new_list(rt, self.list()->span());
}

Value reverse(Runtime&, Value self, const Args& args) {
  bind<0>("reverse", args, {});
  std::ranges::reverse(self.list()->span());
  return Value::none();
}

Value sort(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("sort", args, {"key", "reverse"});
  if (!args.positional.empty()) raise("sort() takes no positional arguments");
  List& list = *self.list();
  const std::vector<Value> items(list.items, list.items + list.size);
  std::vector<Value> keys = items;
  if (a.given(0)) {
    for (Value& key : keys) key = rt.call(a.at(0), Args{{&key, 1}, {}});
  }
  const Value sorted = sort_by(rt, items, keys, a[1] && truthy(a.at(1)));
  if (list.size != items.size()) raise("list modified during sort");  // by the key function
  std::ranges::copy(sorted.list()->span(), list.items);
  return Value::none();
}

constexpr std::array kListMethods = std::to_array<Method>({
    {"append", append},
    {"clear", clear},
    {"copy", copy},
    {"count", count},
    {"extend", extend},
    {"index", index},
    {"insert", insert},
    {"pop", pop},
    {"remove", remove},
    {"reverse", reverse},
    {"sort", sort},
});

constexpr std::array kTupleMethods = std::to_array<Method>({{"count", count}, {"index", index}});

// ---- range ----

int64_t find_in_range(Runtime& rt, Value self, Value wanted) {
  const Range& range = *self.as<Range>();
  rt.charge(range.size / 4);
  for (uint32_t i = 0; i < range.size; ++i) {
    if (equal(rt, range.at(i), wanted)) return i;
  }
  return -1;
}

Value range_index(Runtime& rt, Value self, const Args& args) {
  const int64_t at = find_in_range(rt, self, bind<1>("index", args, {""}, 1).at(0));
  if (at < 0) raise("the value is not in the range");
  return Value::integer(at);
}

Value range_count(Runtime& rt, Value self, const Args& args) {
  return Value::integer(find_in_range(rt, self, bind<1>("count", args, {""}, 1).at(0)) < 0 ? 0 : 1);
}

constexpr std::array kRangeMethods = std::to_array<Method>({{"count", range_count}, {"index", range_index}});

// ---- dict ----

Value dict_get(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("get", args, {"", ""}, 1);
  const Value* found = self.dict()->find(rt, a.at(0));
  return found ? *found : a.or_else(1, Value::none());
}

template <ViewKind kind>
Value dict_view_of(Runtime& rt, Value self, const Args& args) {
  bind<0>("dict method", args, {});
  return dict_view(rt, *self.dict(), kind);
}

Value dict_pop(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("pop", args, {"", ""}, 1);
  if (const Value* found = self.dict()->find(rt, a.at(0))) {
    const Value v = *found;
    self.dict()->erase(rt, a.at(0));
    return v;
  }
  if (!a[1]) raise("KeyError: the dict has no such key");
  return a.at(1);
}

Value dict_popitem(Runtime& rt, Value self, const Args& args) {
  bind<0>("popitem", args, {});
  Dict& dict = *self.dict();
  for (uint32_t i = dict.end; i > 0; --i) {
    const Dict::Entry e = dict.entries[i - 1];
    if (e.key.is(Kind::kMissing)) continue;
    dict.erase(rt, e.key);
    return new_pair(rt, e.key, e.value);
  }
  raise("popitem(): dictionary is empty");
}

Value dict_setdefault(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("setdefault", args, {"", ""}, 1);
  if (const Value* found = self.dict()->find(rt, a.at(0))) return *found;
  const Value v = a.or_else(1, Value::none());
  self.dict()->set(rt, a.at(0), v);
  return v;
}

Value dict_update(Runtime& rt, Value self, const Args& args) {
  if (args.positional.size() > 1) raise("update expected at most 1 argument");
  if (!args.positional.empty()) merge_into(rt, *self.dict(), args.positional[0]);
  for (const NamedArg& named : args.named) self.dict()->set(rt, named.name, named.value);
  return Value::none();
}

Value dict_copy(Runtime& rt, Value self, const Args& args) {
  bind<0>("copy", args, {});
  const Value result = new_dict(rt);
  merge_into(rt, *result.dict(), self);
  return result;
}

Value dict_clear(Runtime&, Value self, const Args& args) {
  bind<0>("clear", args, {});
  self.dict()->clear();
  return Value::none();
}

Value dict_fromkeys(Runtime& rt, Value, const Args& args) {
  const auto a = bind<2>("fromkeys", args, {"", ""}, 1);
  const Value result = new_dict(rt);
  const Sequence keys = iterate(rt, a.at(0));
  for (size_t i = 0; i < keys.size(); ++i) result.dict()->set(rt, keys.at(i), a.or_else(1, Value::none()));
  return result;
}

constexpr std::array kDictMethods = std::to_array<Method>({
    {"clear", dict_clear},
    {"copy", dict_copy},
    {"fromkeys", dict_fromkeys},
    {"get", dict_get},
    {"items", dict_view_of<ViewKind::kItems>},
    {"keys", dict_view_of<ViewKind::kKeys>},
    {"pop", dict_pop},
    {"popitem", dict_popitem},
    {"setdefault", dict_setdefault},
    {"update", dict_update},
    {"values", dict_view_of<ViewKind::kValues>},
});

// ---- numbers ----

Value is_integer(Runtime&, Value self, const Args& args) {
  if (!self.is(Kind::kFloat)) raise("'{}' object has no attribute 'is_integer'", type_name(self));
  bind<0>("is_integer", args, {});
  return Value::boolean(std::isfinite(self.as_double()) && self.as_double() == std::floor(self.as_double()));
}

Value bit_length(Runtime&, Value self, const Args& args) {
  if (self.is(Kind::kFloat)) raise("'float' object has no attribute 'bit_length'");
  bind<0>("bit_length", args, {});
  auto magnitude = static_cast<unsigned __int128>(self.as_int() < 0 ? -self.as_int() : self.as_int());
  int64_t bits = 0;
  for (; magnitude != 0; magnitude >>= 1) ++bits;
  return Value::integer(bits);
}

constexpr std::array kNumberMethods =
    std::to_array<Method>({{"bit_length", bit_length}, {"is_integer", is_integer}});

template <size_t N>
const Method* find_in(const std::array<Method, N>& methods, std::string_view name) {
  const auto found = std::ranges::find(methods, name, &Method::name);
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace

void merge_into(Runtime& rt, Dict& dict, Value source) {
  if (source.is(Kind::kUndefined)) raise_undefined(source);
  if (source.is(Kind::kDict)) {
    const Dict& other = *source.dict();
    rt.charge(other.size / 4);
    for (uint32_t i = 0, n = other.end; i < n; ++i) {
      const Dict::Entry e = other.entries[i];
      if (!e.key.is(Kind::kMissing)) dict.set(rt, e.key, e.value);
    }
    return;
  }
  const Sequence pairs = iterate(rt, source);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Sequence pair = iterate(rt, pairs.at(i));
    if (pair.size() != 2)
      raise("dictionary update sequence element #{} has length {}; 2 is required", i, pair.size());
    rt.charge();
    dict.set(rt, pair.at(0), pair.at(1));
  }
}

const Method* find_list_method(std::string_view name) { return find_in(kListMethods, name); }
const Method* find_tuple_method(std::string_view name) { return find_in(kTupleMethods, name); }
const Method* find_range_method(std::string_view name) { return find_in(kRangeMethods, name); }
const Method* find_dict_method(std::string_view name) { return find_in(kDictMethods, name); }
const Method* find_number_method(std::string_view name) { return find_in(kNumberMethods, name); }

}  // namespace reprise::jinja
