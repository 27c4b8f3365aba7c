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

GgufWriter& GgufWriter::put(std::string_view key, const std::vector<bool>& values) {
  entry(key, 9).add<uint32_t>(7).add<uint64_t>(values.size());
  for (bool value : values) metadata_.number<uint8_t>(value);
  return *this;
}

GgufWriter& GgufWriter::tensor(std::string_view name, uint32_t type, std::vector<uint64_t> sizes,
                               std::vector<std::byte> bytes) {
  tensors_.push_back({std::string(name), type, std::move(sizes), std::move(bytes)});
  return *this;
}

std::vector<GgufWriter> GgufWriter::split(uint32_t count) const {
  std::vector<GgufWriter> parts(count);
  parts[0].metadata_ = metadata_;
  parts[0].entries_ = entries_;
  for (uint32_t i = 0; i < count; ++i) {
    parts[i].put("split.no", static_cast<uint16_t>(i)).put("split.count", static_cast<uint16_t>(count));
    parts[i].put("split.tensors.count", static_cast<int32_t>(tensors_.size()));
    const size_t first = tensors_.size() * i / count, end = tensors_.size() * (i + 1) / count;
    parts[i].tensors_.assign(tensors_.begin() + static_cast<ptrdiff_t>(first),
                             tensors_.begin() + static_cast<ptrdiff_t>(end));
  }
  return parts;
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
