// Writes GGUF files for tests, well-formed or, with the raw calls, deliberately not.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::testing {

// Little-endian bytes, appended.
class Bytes {
 public:
  template <typename T>
  Bytes& number(T value) {
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    data_.insert(data_.end(), p, p + sizeof value);
    return *this;
  }
  Bytes& string(std::string_view text) {
    number<uint64_t>(text.size());
    return raw({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  }
  Bytes& raw(std::span<const std::byte> bytes) {
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  void pad(size_t alignment) { data_.resize((data_.size() + alignment - 1) / alignment * alignment); }
  const std::vector<std::byte>& data() const { return data_; }

 private:
  std::vector<std::byte> data_;
};

class GgufWriter {
 public:
  GgufWriter& put(std::string_view key, uint32_t value) { return entry(key, 4).add(value); }
  GgufWriter& put(std::string_view key, uint16_t value) { return entry(key, 2).add(value); }
  GgufWriter& put(std::string_view key, int32_t value) { return entry(key, 5).add(value); }
  GgufWriter& put(std::string_view key, float value) { return entry(key, 6).add(value); }
  GgufWriter& put(std::string_view key, bool value) { return entry(key, 7).add<uint8_t>(value); }
  GgufWriter& put(std::string_view key, std::string_view value);
  GgufWriter& put(std::string_view key, const char* value) { return put(key, std::string_view(value)); }
  GgufWriter& put(std::string_view key, const std::vector<std::string>& values);
  GgufWriter& put(std::string_view key, const std::vector<int32_t>& values);
  GgufWriter& put(std::string_view key, const std::vector<bool>& values);

  // `type` is GGUF's number; sizes contiguous first; the bytes are taken as they are.
  GgufWriter& tensor(std::string_view name, uint32_t type, std::vector<uint64_t> sizes,
                     std::vector<std::byte> bytes);

  // Takes a tensor out again.
  void drop(std::string_view name) {
    std::erase_if(tensors_, [&](const Tensor& tensor) { return tensor.name == name; });
  }

  // As parts of a split file, the tensors dealt out in runs; the first has the metadata.
  std::vector<GgufWriter> split(uint32_t parts) const;

  std::vector<std::byte> bytes(uint32_t version = 3, uint32_t alignment = 32) const;
  void write(const std::filesystem::path& path) const;  // aborts when it cannot

 private:
  struct Tensor {
    std::string name;
    uint32_t type;
    std::vector<uint64_t> sizes;
    std::vector<std::byte> bytes;
  };
  GgufWriter& entry(std::string_view key, uint32_t type);
  template <typename T>
  GgufWriter& add(T value) {
    metadata_.number(value);
    return *this;
  }

  uint64_t entries_ = 0;
  Bytes metadata_;
  std::vector<Tensor> tensors_;
};

}  // namespace reprise::testing
