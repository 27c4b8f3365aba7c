// The containers of a template, all living on the render's heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/jinja/compare.h"
#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace reprise::jinja {

struct List {  // also tuples, dict views and generators
  Value* items = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;
  uint32_t cursor = 0;  // generators: what was walked already
  Value failure;        // generators: the message of the error that ends the walk, or kMissing

  void push(Runtime& rt, Value v);
  std::span<Value> span() const { return {items, size}; }
};

// Insertion-ordered hash map with Python's key equality (1 == 1.0 == True). Keys must be hashable.
struct Dict {
  struct Entry {
    Value key;  // kMissing: deleted
    Value value;
    uint64_t hash;
  };
  Entry* entries = nullptr;
  uint32_t end = 0;  // entries in use, deleted ones included
  uint32_t capacity = 0;
  uint32_t size = 0;
  uint32_t* slots = nullptr;  // open addressing, entry index + 1; absent while the dict is small
  uint32_t slot_count = 0;

  Value* find(Runtime& rt, Value key) const;
  Value* find(std::string_view key) const { return find(key, hash_text(key)); }
  Value* find(std::string_view key, uint64_t hash) const {  // hash_text(key)
    if (slots != nullptr || key.size() > kShortText) return find_any(key, hash);
    return const_cast<Value*>(find_quickly(key, hash));
  }
  // The same without a call, but may miss an entry. The key is no longer than kShortText.
  const Value* find_quickly(std::string_view key, uint64_t hash) const;
  void set(Runtime& rt, Value key, Value value);
  void set(Runtime& rt, std::string_view key, Value value);
  void set(Runtime& rt, std::string_view key, uint64_t hash, Value value);
  void reserve(Runtime& rt, uint32_t count);  // of an empty dict
  // For a key that is not there yet.
  void append(Runtime& rt, Value key, Value value, uint64_t hash);
  bool erase(Runtime& rt, Value key);
  void clear();

 private:
  Value* find_any(std::string_view key, uint64_t hash) const;
  template <typename Equal>
  Entry* locate(uint64_t hash, const Equal& equal) const;
  void rebuild_slots(Runtime& rt);
};

[[gnu::always_inline]] inline const Value* Dict::find_quickly(std::string_view key, uint64_t hash) const {
  if (slots != nullptr) return nullptr;
  for (const Entry* e = entries; e != entries + end; ++e) {
    if (e->hash == hash && e->key.is_string() && e->key.text().size() == key.size() &&
        same_short_text(e->key.text(), key)) {
      return &e->value;
    }
  }
  return nullptr;
}

struct Range {
  int64_t start;
  int64_t step;
  uint32_t size;
  int64_t stop;

  Value at(size_t i) const { return Value::integer(start + step * static_cast<int64_t>(i)); }
};

Value new_list(Runtime& rt, std::span<const Value> items = {});
Value new_tuple(Runtime& rt, std::span<const Value> items);
Value new_pair(Runtime& rt, Value first, Value second);
Value new_dict(Runtime& rt, uint32_t capacity = 0);
Value new_generator(Runtime& rt, Value list);  // takes the list over
// What a lazy filter of jinja2 returns: `fill` computes the elements now, but if it fails, that is an error
// only for whoever walks them.
template <typename Fill>
Value lazily(Runtime& rt, const Fill& fill) {
  List& list = *rt.heap.make<List>();
  try {
    fill(list);
  } catch (const Failure& failure) {
    if (failure.kind != ErrorKind::kInvalid) throw;
    list.failure = rt.heap.string(failure.message);
  }
  return Value::object(Kind::kGenerator, &list);
}
Value dict_view(Runtime& rt, const Dict& dict, ViewKind kind);

// The entries of a dict in order; sorted by key if wanted, which throws for keys that have no order.
std::vector<const Dict::Entry*> entries_of(Runtime& rt, const Dict& dict, bool sorted);

// The elements of something iterable, by index. A list is seen live: what is appended meanwhile is met.
class Sequence {
 public:
  Sequence() = default;
  explicit Sequence(const List* list, uint32_t first = 0) : list_(list), first_(first) {}
  explicit Sequence(const Range* range) : range_(range) {}
  size_t size() const { return range_ != nullptr ? range_->size : list_->size - first_; }
  Value at(size_t i) const { return range_ != nullptr ? range_->at(i) : list_->items[first_ + i]; }

 private:
  static constexpr List kEmpty = {};

  const Range* range_ = nullptr;
  const List* list_ = &kEmpty;
  uint32_t first_ = 0;  // of a generator, whose list does not change
};

// dict.update(source): a dict or an iterable of pairs.
void merge_into(Runtime& rt, Dict& dict, Value source);

bool is_iterable(Value v);
// Python's iter(): characters of a string, keys of a dict; nothing for undefined. Throws for what is not
// iterable.
Sequence iterate(Runtime& rt, Value v);

}  // namespace reprise::jinja
