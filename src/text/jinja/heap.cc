// Bump allocation in blocks of 64 KiB (larger requests get a block of their own). A growable string is
// preceded by a header with its capacity and how much of it is used by the longest string that starts there.
#include <algorithm>
#include <cstring>

#include "text/jinja/runtime.h"

namespace reprise::jinja {
namespace {
constexpr size_t kBlock = size_t{64} << 10;
constexpr size_t kAlign = 16;

struct BufferHeader {
  uint64_t used;
  uint64_t capacity;
};
static_assert(sizeof(BufferHeader) % kAlign == 0);
}  // namespace

void Heap::require(size_t count, size_t size) const {
  if (count > (budget_ - used_) / size) {
    exceed("the template needs too much memory (more than {} MiB)", budget_ >> 20);
  }
}

void* Heap::allocate(size_t bytes) {
  require(bytes);
  bytes = (std::max<size_t>(bytes, 1) + kAlign - 1) & ~(kAlign - 1);
  if (bytes > static_cast<size_t>(end_ - free_)) {
    const size_t block = std::max(bytes, kBlock);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block + kAlign));
    const auto start = reinterpret_cast<uintptr_t>(blocks_.back().get());
    auto* aligned = reinterpret_cast<std::byte*>((start + kAlign - 1) & ~uintptr_t{kAlign - 1});
    used_ += std::min(bytes, budget_ - used_);
    if (bytes >= kBlock / 4 && bytes == block) return aligned;  // keep filling the current block
    free_ = aligned + bytes;
    end_ = aligned + block;
    return aligned;
  }
  used_ += std::min(bytes, budget_ - used_);
  std::byte* result = free_;
  free_ += bytes;
  return result;
}

Value Heap::string(std::string_view text, bool safe) {
  if (text.empty()) return Value::string("", safe);
  auto* data = static_cast<char*>(allocate(text.size()));
  std::memcpy(data, text.data(), text.size());
  return Value::string({data, text.size()}, safe);
}

Value Heap::concat(const Value& a, std::string_view b) {
  const std::string_view left = a.text();
  if (b.empty()) return a;
  const size_t size = left.size() + b.size();
  if (a.growable()) {
    auto* header = reinterpret_cast<BufferHeader*>(const_cast<char*>(left.data())) - 1;
    if (header->used == left.size() && size <= header->capacity) {
      std::memcpy(const_cast<char*>(left.data()) + left.size(), b.data(), b.size());
      header->used = size;
      return Value::string({left.data(), size}, a.safe()).set_growable();
    }
  }
  require(size);
  const size_t capacity = std::min(size + size / 2 + 32, std::max(remaining() / 2, size));
  auto* header = static_cast<BufferHeader*>(allocate(sizeof(BufferHeader) + capacity));
  *header = {size, capacity};
  auto* data = reinterpret_cast<char*>(header + 1);
  if (!left.empty()) std::memcpy(data, left.data(), left.size());
  std::memcpy(data + left.size(), b.data(), b.size());
  return Value::string({data, size}, a.safe()).set_growable();
}

}  // namespace reprise::jinja
