// What one render owns and every operation gets: the heap, the budgets, and the way back into the
// interpreter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/provenance.h"
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
  static constexpr size_t kAlign = 16;

  explicit Heap(size_t budget) : budget_(budget) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  void* allocate(size_t bytes) {  // aligned to kAlign
    const size_t room = std::min(static_cast<size_t>(end_ - free_), budget_ - used_);
    if (bytes > room) return allocate_block(bytes);
    bytes = (bytes + kAlign - 1) & ~(kAlign - 1);
    used_ += std::min(bytes, budget_ - used_);
    return std::exchange(free_, free_ + bytes);
  }
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

  // A copy of `text`: its parts that are the template's own stay so.
  Value string(std::string_view text, bool safe = false);
  // A copy of text built elsewhere, from byte `begin` on.
  Value string(const MarkedText& marked, size_t begin = 0, bool safe = false);
  // A copy of text that was made out of `from` as a whole (its upper case, say): the template's own if all of
  // `from` is.
  Value derived(std::string_view text, Value from, bool safe = false);
  // a + b. When `a` is the whole content of a buffer with room behind it, b is written there and nothing is
  // copied, so a text built by repeated `+` costs linear time; other views of the buffer end before the new
  // bytes.
  Value concat(Value a, std::string_view b);

  Provenance provenance;

 private:
  void copy(std::string_view text, char* to);
  Value unmarked(std::string_view text, bool safe);

  void* allocate_block(size_t bytes);

  std::vector<std::unique_ptr<std::byte[]>> blocks_;  // of one size
  std::vector<std::unique_ptr<std::byte[]>> large_;
  std::vector<TextSpan> own_;  // room for copy()
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

struct MemberName;

class Runtime {
 public:
  Runtime(const Limits& limits, int64_t now) : heap(limits.heap_bytes), now(now), limits_(limits) {}
  virtual ~Runtime() = default;

  virtual Value call(Value callee, const Args& args) = 0;
  // An attribute of the interpreter's own objects (loop variables, macros); kMissing when there is none.
  virtual Value object_attribute(Value object, const MemberName& name) = 0;

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
  friend class Builder;
  Limits limits_;
  uint64_t spent_ = 0;
  uint32_t depth_ = 0;
  MarkedText scratch_;  // what the last Builder allocated
};

// Held while a recursive operation is some levels deeper.
class Nesting {
 public:
  explicit Nesting(Runtime& rt, uint32_t levels = 1) : rt_(rt), levels_(levels) {
    rt.depth_ += levels;
    if (rt.depth_ > rt.limits_.depth) [[unlikely]] {
      rt.depth_ -= levels;
      exceed("the template nests too deeply (more than {} levels)", rt.limits_.depth);
    }
  }
  ~Nesting() { rt_.depth_ -= levels_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Runtime& rt_;
  const uint32_t levels_;
};

// Text under construction, held to the heap's budget.
class Builder {
 public:
  explicit Builder(Runtime& rt) : rt_(rt), out_(std::move(rt.scratch_)) { cut(out_, 0); }
  ~Builder() { rt_.scratch_ = std::move(out_); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  void append(std::string_view text) {
    rt_.heap.provenance.own_parts(text, size(), out_.own);
    expect(text.size());
    out_.text.append(text);
  }
  // What `write` puts where it is told to, at most `room` bytes: it returns their end. `own`: made of the
  // template's own text.
  template <typename Write>
  void append_made(size_t room, bool own, const Write& write) {
    const size_t begin = size();
    out_.text.resize_and_overwrite(
        begin + room, [&](char* text, size_t) { return static_cast<size_t>(write(text + begin) - text); });
    expect(0);
    if (own) append_span(out_.own, {begin, size()});
  }
  void append(char c) {
    expect(1);
    out_.text.push_back(c);
  }
  void append(size_t count, char c) {
    rt_.heap.require(count);
    expect(count);
    out_.text.append(count, c);
  }
  size_t size() const { return out_.text.size(); }
  bool empty() const { return out_.text.empty(); }
  std::string& raw() { return out_.text; }  // for a writer that appends a bounded number of bytes
  Value finish(bool safe = false) { return rt_.heap.string(out_, 0, safe); }

 private:
  void expect(size_t bytes) {
    if (bytes + size() > rt_.heap.remaining()) rt_.heap.require(bytes + size());
  }

  Runtime& rt_;
  MarkedText out_;
};

}  // namespace reprise::jinja
