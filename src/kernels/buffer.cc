// Design: large buffers are anonymous mappings on a 2 MiB border that ask for huge pages (a weight stream
// through 4 KiB pages spends a tenth of its time in TLB misses); the system zeroes them on first touch. Small
// ones come from the heap.
#include "kernels/buffer.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/mman.h>

#include "base/check.h"

namespace reprise::kernels {

namespace {
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLarge = kHugePage / 2;  // from here on huge pages are worth the rounding
constexpr size_t kAlign = 64;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

std::byte* allocate(size_t bytes) {
  CHECK(bytes <= SIZE_MAX / 2, "out of memory: {} bytes", bytes);
  if (bytes < kLarge) {
    void* p = std::aligned_alloc(kAlign, round_up(bytes, kAlign));
    CHECK(p != nullptr, "out of memory: {} bytes", bytes);
    return static_cast<std::byte*>(std::memset(p, 0, round_up(bytes, kAlign)));
  }
  // One huge page more than needed, then the parts before and after the aligned range go back.
  const size_t size = round_up(bytes, kHugePage);
  void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(mapped != MAP_FAILED, "out of memory: {} bytes", bytes);
  auto* raw = static_cast<std::byte*>(mapped);
  const size_t head =
      round_up(reinterpret_cast<uintptr_t>(raw), kHugePage) - reinterpret_cast<uintptr_t>(raw);
  if (head > 0) munmap(raw, head);
  if (head < kHugePage) munmap(raw + head + size, kHugePage - head);
  madvise(raw + head, size, MADV_HUGEPAGE);  // best effort
  return raw + head;
}

void release(std::byte* data, size_t bytes) {
  if (bytes < kLarge)
    std::free(data);
  else
    munmap(data, round_up(bytes, kHugePage));
}
}  // namespace

Buffer::Buffer(size_t bytes) : data_(bytes ? allocate(bytes) : nullptr), size_(bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() { release(data_, size_); }

void Buffer::reserve(size_t bytes) {
  if (bytes <= size_) return;
  *this = Buffer();  // the old memory goes first: contents are not kept
  *this = Buffer(bytes);
}

}  // namespace reprise::kernels
