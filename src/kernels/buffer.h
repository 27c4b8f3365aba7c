// Memory for weights, KV pages and scratch: 64-byte aligned (2 MiB when large, with transparent huge pages
// asked for).
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::kernels {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);  // zero-filled; aborts when the system has no memory
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  // At least `bytes`; contents are lost when it grows. For scratch.
  void reserve(size_t bytes);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace reprise::kernels
