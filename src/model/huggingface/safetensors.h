// One safetensors file: the names, types, shapes and bytes of its tensors.
// Format: github.com/huggingface/safetensors (a uint64 length, a JSON header of that length, then the data).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace reprise {

struct SafeTensor {
  std::string name;
  std::string type;             // "BF16", "F16", "F32", "I64", ...
  std::vector<uint64_t> shape;  // outermost first; empty: a scalar
  std::span<const std::byte> bytes;
};

struct SafeTensors {
  std::span<const std::byte> header;
  std::vector<SafeTensor> tensors;  // by their place in the file
};

// Checks everything before it is used: lengths, types, that shapes and offsets agree without overflow, and
// that the tensors fill the data without holes or overlaps, as the format demands. `file` must outlive the
// result.
Result<SafeTensors> parse_safetensors(std::span<const std::byte> file);

}  // namespace reprise
