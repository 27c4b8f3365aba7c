// Bump allocation in blocks of 256 KiB (larger requests get a block of their own). Those of a render that
// ended are kept for the next one on its thread, because the kernel takes longer to hand out fresh memory
// than many a render to fill it. A growable string is preceded by a header with its capacity and how much of
// it is used by the longest string that starts there.
#include <algorithm>
#include <cstring>

#include "text/jinja/runtime.h"

namespace reprise::jinja {
namespace {
constexpr size_t kBlock = size_t{256} << 10;
constexpr size_t kSpareBlocks = 8;  // a thread

struct BufferHeader {
  uint64_t used;
  uint64_t capacity;
};

using Memory = std::unique_ptr<std::byte[]>;

std::vector<Memory>& spare_blocks() {
  thread_local std::vector<Memory> blocks;
  return blocks;
}

Memory new_memory(size_t bytes) {
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= Heap::kAlign);
  return std::make_unique_for_overwrite<std::byte[]>(bytes);
}
}  // namespace

Heap::~Heap() {
  std::vector<Memory>& spare = spare_blocks();
  for (; !blocks_.empty() && spare.size() < kSpareBlocks; blocks_.pop_back()) {
    spare.push_back(std::move(blocks_.back()));
  }
}

void Heap::require(size_t count, size_t size) const {
  if (count > (budget_ - used_) / size) {
    exceed("the template needs too much memory (more than {} MiB)", budget_ >> 20);
  }
}

void* Heap::allocate_block(size_t bytes) {
  static_assert(sizeof(BufferHeader) % kAlign == 0);
  require(bytes);
  bytes = (bytes + kAlign - 1) & ~(kAlign - 1);
  const bool large = bytes > kBlock / 4;
  std::vector<Memory>& spare = spare_blocks();
  if (large) {
    large_.push_back(new_memory(bytes));
  } else if (spare.empty()) {
    blocks_.push_back(new_memory(kBlock));
  } else {
    blocks_.push_back(std::move(spare.back()));
    spare.pop_back();
  }
  std::byte* start = (large ? large_ : blocks_).back().get();
  std::byte* end = start + (large ? bytes : kBlock);
  provenance.add_block(reinterpret_cast<const char*>(start), reinterpret_cast<const char*>(end));
  used_ += std::min(bytes, budget_ - used_);
  if (large) return start;  // and go on filling the current block
  free_ = start + bytes;
  end_ = end;
  return start;
}

void Heap::copy(std::string_view text, char* to) {
  if (text.empty()) return;
  std::memcpy(to, text.data(), text.size());
  own_.clear();
  provenance.own_parts(text, 0, own_);
  for (const TextSpan& span : own_) provenance.mark({to + span.begin, span.end - span.begin});
}

Value Heap::unmarked(std::string_view text, bool safe) {
  if (text.empty()) return Value::string("", safe);
  auto* data = static_cast<char*>(allocate(text.size()));
  std::memcpy(data, text.data(), text.size());
  return Value::string({data, text.size()}, safe);
}

Value Heap::string(std::string_view text, bool safe) {
  if (text.empty()) return Value::string("", safe);
  auto* data = static_cast<char*>(allocate(text.size()));
  copy(text, data);
  return Value::string({data, text.size()}, safe);
}

Value Heap::string(const MarkedText& marked, size_t begin, bool safe) {
  const Value v = unmarked(std::string_view(marked.text).substr(begin), safe);
  auto own = std::ranges::upper_bound(marked.own, begin, {}, &TextSpan::end);
  for (; own != marked.own.end(); ++own) {
    const size_t from = std::max(own->begin, begin);
    provenance.mark(v.text().substr(from - begin, own->end - from));
  }
  return v;
}

Value Heap::derived(std::string_view text, Value from, bool safe) {
  const Value v = unmarked(text, safe);
  if (provenance.is_own(from.text())) provenance.mark(v.text());
  return v;
}

Value Heap::concat(Value a, std::string_view b) {
  const std::string_view left = a.text();
  if (b.empty()) return a;
  const size_t size = left.size() + b.size();
  if (a.growable()) {
    auto* header = reinterpret_cast<BufferHeader*>(const_cast<char*>(left.data())) - 1;
    if (header->used == left.size() && size <= header->capacity) {
      copy(b, const_cast<char*>(left.data()) + left.size());
      header->used = size;
      return Value::string({left.data(), size}, a.safe()).set_growable();
    }
  }
  require(size);
  const size_t capacity = std::min(size + size / 2 + 32, std::max(remaining() / 2, size));
  auto* header = static_cast<BufferHeader*>(allocate(sizeof(BufferHeader) + capacity));
  *header = {size, capacity};
  auto* data = reinterpret_cast<char*>(header + 1);
  copy(left, data);
  copy(b, data + left.size());
  return Value::string({data, size}, a.safe()).set_growable();
}

}  // namespace reprise::jinja
