// Dicts up to kSmall entries are searched linearly, comparing hashes first; larger ones get an open-addressed
// index at most half full. Deleted entries keep their place (and index slot) until the next growth, so order
// and probing hold.
#include "text/jinja/containers.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "text/jinja/compare.h"
#include "text/jinja/sorting.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {
constexpr uint32_t kSmall = 8;

template <typename T>
void grow(Runtime& rt, T*& items, uint32_t size, uint32_t& capacity) {
  if (capacity > UINT32_MAX / 2) exceed("a container of the template grew too large");
  const uint32_t larger = std::max<uint32_t>(4, capacity * 2);
  T* fresh = rt.heap.array<T>(larger);
  std::copy_n(items, size, fresh);
  items = fresh;
  capacity = larger;
}
}  // namespace

void List::push(Runtime& rt, Value v) {
  if (size == capacity) grow(rt, items, size, capacity);
  new (items + size++) Value(v);
}

template <typename Equal>
Dict::Entry* Dict::locate(uint64_t hash, const Equal& equal) const {
  if (slots == nullptr) {
    for (Entry* e = entries; e != entries + end; ++e) {
      if (e->hash == hash && !e->key.is(Kind::kMissing) && equal(e->key)) return e;
    }
    return nullptr;
  }
  for (uint32_t i = hash & (slot_count - 1); slots[i] != 0; i = (i + 1) & (slot_count - 1)) {
    Entry& e = entries[slots[i] - 1];
    if (e.hash == hash && !e.key.is(Kind::kMissing) && equal(e.key)) return &e;
  }
  return nullptr;
}

Value* Dict::find_any(std::string_view key, uint64_t hash) const {
  Entry* e = locate(hash, [&](Value k) { return k.is_string() && same_text(k.text(), key); });
  return e ? &e->value : nullptr;
}

void Dict::rebuild_slots(Runtime& rt) {
  slot_count = std::bit_ceil(capacity) * 2;
  slots = rt.heap.array<uint32_t>(slot_count);
  std::fill_n(slots, slot_count, 0);
  for (uint32_t e = 0; e < end; ++e) {
    uint32_t i = entries[e].hash & (slot_count - 1);
    while (slots[i] != 0) i = (i + 1) & (slot_count - 1);
    slots[i] = e + 1;
  }
}

void Dict::reserve(Runtime& rt, uint32_t count) {
  if (count == 0) return;
  entries = rt.heap.array<Entry>(count);
  capacity = count;
  if (capacity > kSmall) rebuild_slots(rt);
}

void Dict::append(Runtime& rt, Value key, Value value, uint64_t hash) {
  if (end == capacity) {
    grow(rt, entries, end, capacity);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < end; ++i) {
      if (!entries[i].key.is(Kind::kMissing)) entries[kept++] = entries[i];
    }
    end = kept;
    if (capacity > kSmall) rebuild_slots(rt);
  }
  new (entries + end++) Entry{key, value, hash};
  ++size;
  if (slots != nullptr) {
    uint32_t i = hash & (slot_count - 1);
    while (slots[i] != 0) i = (i + 1) & (slot_count - 1);
    slots[i] = end;
  }
}

Value* Dict::find(Runtime& rt, Value key) const {
  if (key.is_string()) return find(key.text());
  Entry* e = locate(hash(rt, key), [&](Value k) { return equal(rt, k, key); });
  return e ? &e->value : nullptr;
}

void Dict::set(Runtime& rt, Value key, Value value) {
  if (Value* found = find(rt, key)) {
    *found = value;
  } else {
    append(rt, key, value, hash(rt, key));
  }
}

void Dict::set(Runtime& rt, std::string_view key, uint64_t hash, Value value) {
  if (Value* found = find(key, hash)) {
    *found = value;
  } else {
    append(rt, Value::string(key), value, hash);
  }
}

void Dict::set(Runtime& rt, std::string_view key, Value value) { set(rt, key, hash_text(key), value); }

bool Dict::erase(Runtime& rt, Value key) {
  Entry* e = locate(hash(rt, key), [&](Value k) { return equal(rt, k, key); });
  if (e == nullptr) return false;
  e->key = Value();
  --size;
  return true;
}

void Dict::clear() { *this = Dict{}; }

Value new_list(Runtime& rt, std::span<const Value> items) {
  auto* list = rt.heap.make<List>();
  if (!items.empty()) {
    list->items = rt.heap.array<Value>(items.size());
    std::copy(items.begin(), items.end(), list->items);
    list->size = list->capacity = static_cast<uint32_t>(items.size());
  }
  return Value::object(Kind::kList, list);
}

Value new_tuple(Runtime& rt, std::span<const Value> items) {
  return Value::object(Kind::kTuple, new_list(rt, items).list());
}

Value new_pair(Runtime& rt, Value first, Value second) {
  const Value both[] = {first, second};
  return new_tuple(rt, both);
}

Value new_dict(Runtime& rt, uint32_t capacity) {
  auto* dict = rt.heap.make<Dict>();
  dict->reserve(rt, capacity);
  return Value::object(Kind::kDict, dict);
}

Value new_generator(Runtime&, Value list) { return Value::object(Kind::kGenerator, list.list()); }

Value dict_view(Runtime& rt, const Dict& dict, ViewKind kind) {
  rt.charge(dict.size / 8);
  auto* list = rt.heap.make<List>();
  list->items = rt.heap.array<Value>(dict.size);
  list->capacity = dict.size;
  for (uint32_t i = 0; i < dict.end; ++i) {
    const Dict::Entry& e = dict.entries[i];
    if (e.key.is(Kind::kMissing)) continue;
    list->push(rt, kind == ViewKind::kKeys     ? e.key
                   : kind == ViewKind::kValues ? e.value
                                               : new_pair(rt, e.key, e.value));
  }
  return Value::object(Kind::kView, list, static_cast<uint8_t>(kind));
}

std::vector<const Dict::Entry*> entries_of(Runtime& rt, const Dict& dict, bool sorted) {
  std::vector<const Dict::Entry*> entries;
  for (uint32_t i = 0; i < dict.end; ++i) {
    if (!dict.entries[i].key.is(Kind::kMissing)) entries.push_back(&dict.entries[i]);
  }
  if (!sorted) return entries;
  const auto order = stable_order(entries.size(), [&](uint32_t a, uint32_t b) {
    rt.charge();
    return less(rt, entries[a]->key, entries[b]->key);
  });
  std::vector<const Dict::Entry*> result;
  for (const uint32_t i : order) result.push_back(entries[i]);
  return result;
}

bool is_iterable(Value v) {
  switch (v.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kGenerator:
    case Kind::kLoop:
      return true;
    default:
      return false;
  }
}

Sequence iterate(Runtime& rt, Value v) {
  switch (v.kind()) {
    case Kind::kUndefined:
      return {};
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
      return Sequence(v.list());
    case Kind::kRange:
      return Sequence(v.as<Range>());
    case Kind::kDict:
      return Sequence(dict_view(rt, *v.dict(), ViewKind::kKeys).list());
    case Kind::kGenerator: {
      List* list = v.list();
      const uint32_t first = list->cursor;
      list->cursor = list->size;
      if (list->failure.is_string()) raise("{}", list->failure.text());
      return Sequence(list, first);
    }
    case Kind::kString: {
      const std::string_view text = v.text();
      rt.charge(text.size() / 8);
      auto* list = rt.heap.make<List>();
      for (size_t i = 0; i < text.size();) {
        const size_t next = unicode::next(text, i);
        list->push(rt, Value::string(text.substr(i, next - i)));
        i = next;
      }
      return Sequence(list);
    }
    default:
      raise("'{}' object is not iterable", type_name(v));
  }
}

}  // namespace reprise::jinja
