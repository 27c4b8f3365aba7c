// What one render owns and every operation gets: the heap, the budgets, and the way back into the
// interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace reprise::jinja {

// Budgets of one render. A render that stays inside them takes a few seconds at most.
struct Limits {
  uint64_t instructions = 50'000'000;      // evaluated nodes, loop rounds, elements compared, ...
  size_t heap_bytes = size_t{256} << 20;   // every value the template makes, dead ones included
  size_t output_bytes = size_t{64} << 20;  // text rendered, captured blocks included
  uint32_t depth = 1200;                   // nested evaluation: macros, recursive loops, deep values
};

// Memory of one render: allocation by bumping a pointer, freed all at once, so objects must be trivially
// destructible and cycles (a list that holds itself) cost nothing. Throws kTooLarge past its budget.
class Heap {
 public:
  explicit Heap(size_t budget) : budget_(budget) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  void* allocate(size_t bytes);  // aligned to 16
  template <typename T>
  T* array(size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    require(n, sizeof(T));
    return static_cast<T*>(allocate(n * sizeof(T)));
  }
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }

  // Throws unless `count` items of `size` bytes still fit: to be asked before building something large
  // elsewhere.
  void require(size_t count, size_t size = 1) const;
  size_t remaining() const { return budget_ - used_; }

  Value string(std::string_view text, bool safe = false);  // a copy of `text`
  // a + b. When `a` is the whole content of a buffer with room behind it, b is written there and nothing is
  // copied, so a text built by repeated `+` costs linear time; other views of the buffer end before the new
  // bytes.
  Value concat(const Value& a, std::string_view b);

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* free_ = nullptr;
  std::byte* end_ = nullptr;
  size_t budget_;
  size_t used_ = 0;
};

struct NamedArg {
  std::string_view name;
  Value value;
};
struct Args {
  std::span<const Value> positional;
  std::span<const NamedArg> named;
};

class Runtime {
 public:
  Runtime(const Limits& limits, int64_t now) : heap(limits.heap_bytes), now(now), limits_(limits) {}
  virtual ~Runtime() = default;

  virtual Value call(const Value& callee, const Args& args) = 0;
  // An attribute of the interpreter's own objects (loop variables, macros); kMissing when there is none.
  virtual Value object_attribute(const Value& object, std::string_view name) = 0;

  void charge(uint64_t instructions = 1) {
    spent_ += instructions;
    if (spent_ > limits_.instructions) [[unlikely]]
      exceed("the template ran for too long (more than {} steps)", limits_.instructions);
  }
  const Limits& limits() const { return limits_; }

  Heap heap;
  int64_t now;  // seconds since 1970 UTC

 private:
  friend class Nesting;
  Limits limits_;
  uint64_t spent_ = 0;
  uint32_t depth_ = 0;
};

// Held while a recursive operation is one level deeper.
class Nesting {
 public:
  explicit Nesting(Runtime& rt) : rt_(rt) {
    if (++rt.depth_ > rt.limits_.depth) [[unlikely]] {
      --rt.depth_;
      exceed("the template nests too deeply (more than {} levels)", rt.limits_.depth);
    }
  }
  ~Nesting() { --rt_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Runtime& rt_;
};

// Text under construction, held to the heap's budget.
class Builder {
 public:
  explicit Builder(Runtime& rt) : rt_(rt) {}
  void append(std::string_view text) {
    if (text.size() + out_.size() > rt_.heap.remaining()) rt_.heap.require(text.size() + out_.size());
    out_.append(text);
  }
  void append(char c) { append(std::string_view(&c, 1)); }
  void append(size_t count, char c) {
    rt_.heap.require(count);
    if (count + out_.size() > rt_.heap.remaining()) rt_.heap.require(count + out_.size());
    out_.append(count, c);
  }
  size_t size() const { return out_.size(); }
  bool empty() const { return out_.empty(); }
  std::string& raw() { return out_; }  // for a writer that appends a bounded number of bytes
  Value finish(bool safe = false) { return rt_.heap.string(out_, safe); }

 private:
  Runtime& rt_;
  std::string out_;
};

}  // namespace reprise::jinja
