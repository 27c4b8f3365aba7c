// Writes safetensors files for tests, well-formed or, with a header of one's own, deliberately not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::testing {

struct SafeTensorToWrite {
  std::string name, type;
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;
};

std::vector<std::byte> safetensors(std::span<const SafeTensorToWrite> tensors);
std::vector<std::byte> safetensors(std::string_view header, size_t data_bytes);
void write_file(const std::string& path, std::span<const std::byte> bytes);  // aborts when it cannot

}  // namespace reprise::testing
