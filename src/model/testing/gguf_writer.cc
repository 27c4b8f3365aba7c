#include "model/testing/gguf_writer.h"

#include <fstream>

#include "base/check.h"

namespace reprise::testing {

GgufWriter& GgufWriter::entry(std::string_view key, uint32_t type) {
  ++entries_;
  metadata_.string(key).number(type);
  return *this;
}

GgufWriter& GgufWriter::put(std::string_view key, std::string_view value) {
  entry(key, 8);
  metadata_.string(value);
  return *this;
}

GgufWriter& GgufWriter::put(std::string_view key, const std::vector<std::string>& values) {
  entry(key, 9).add<uint32_t>(8).add<uint64_t>(values.size());
  for (const std::string& value : values) metadata_.string(value);
  return *this;
}

GgufWriter& GgufWriter::put(std::string_view key, const std::vector<int32_t>& values) {
  entry(key, 9).add<uint32_t>(5).add<uint64_t>(values.size());
  for (int32_t value : values) metadata_.number(value);
  return *this;
}

GgufWriter& GgufWriter::tensor(std::string_view name, uint32_t type, std::vector<uint64_t> sizes,
                               std::vector<std::byte> bytes) {
  tensors_.push_back({std::string(name), type, std::move(sizes), std::move(bytes)});
  return *this;
}

std::vector<std::byte> GgufWriter::bytes(uint32_t version, uint32_t alignment) const {
  Bytes out;
  out.number<uint32_t>(0x46554747).number(version).number<uint64_t>(tensors_.size()).number(entries_);
  out.raw(metadata_.data());
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    out.string(tensor.name).number(static_cast<uint32_t>(tensor.sizes.size()));
    for (uint64_t size : tensor.sizes) out.number(size);
    out.number(tensor.type).number(offset);
    offset += (tensor.bytes.size() + alignment - 1) / alignment * alignment;
  }
  for (const Tensor& tensor : tensors_) {
    out.pad(alignment);
    out.raw(tensor.bytes);
  }
  return out.data();
}

void GgufWriter::write(const std::filesystem::path& path) const {
  const std::vector<std::byte> data = bytes();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  CHECK(file.good(), "cannot write {}", path.string());
}

}  // namespace reprise::testing
