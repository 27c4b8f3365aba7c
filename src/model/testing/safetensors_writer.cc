#include "model/testing/safetensors_writer.h"

#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace reprise::testing {

std::vector<std::byte> safetensors(std::string_view header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::vector<std::byte> file(sizeof length + header.size() + data_bytes);
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + sizeof length, header.data(), header.size());
  return file;
}

std::vector<std::byte> safetensors(std::span<const SafeTensorToWrite> tensors) {
  std::string header = "{";
  std::vector<std::byte> data;
  for (const SafeTensorToWrite& t : tensors) {
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          header.size() > 1 ? "," : "", t.name, t.type, fmt::join(t.shape, ","), data.size(),
                          data.size() + t.bytes.size());
    data.insert(data.end(), t.bytes.begin(), t.bytes.end());
  }
  std::vector<std::byte> file = safetensors(header + "}", 0);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  CHECK(file.good(), "cannot write {}", path);
}

}  // namespace reprise::testing
