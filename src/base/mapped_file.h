// A read-only memory-mapped file. The mapping lives as long as the object; moves keep addresses stable.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace reprise {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Tells the kernel the pages are not needed any more (weights that have been repacked); they stay readable.
  void drop_pages() const;

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace reprise
