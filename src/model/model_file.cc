#include "model/model_file.h"

#include <cstring>

#include "model/gguf.h"
#include "model/huggingface/folder.h"

namespace reprise {
namespace {

std::span<const std::byte> transposed(const GgufTensor& tensor, std::vector<std::byte>& copy) {
  constexpr uint64_t kTogether = 64;  // rows of the source whose lines stay in the cache
  const GgufTensor::Columns& c = *tensor.columns;
  const size_t size = tensor.type->block_bytes, row = c.outputs * c.every * size;
  copy.resize(tensor.byte_count());
  const uint64_t matrices = tensor.elements / (c.inputs * c.outputs);
  for (uint64_t m = 0; m < matrices; ++m) {
    const std::byte* from = tensor.bytes.data() + m * c.inputs * row + c.first * size;
    std::byte* to = copy.data() + m * c.inputs * c.outputs * size;
    for (uint64_t begin = 0; begin < c.inputs; begin += kTogether)
      for (uint64_t o = 0; o < c.outputs; ++o)
        for (uint64_t i = begin; i < std::min(begin + kTogether, c.inputs); ++i)
          std::memcpy(to + (o * c.inputs + i) * size, from + i * row + o * c.every * size, size);
  }
  return copy;
}

}  // namespace

size_t GgufTensor::byte_count() const {
  if (columns) return elements * type->block_bytes;
  size_t count = bytes.size();
  for (const auto part : parts) count += part.size();
  return count;
}

std::span<const std::byte> GgufTensor::whole(std::vector<std::byte>& copy) const {
  if (columns) return transposed(*this, copy);
  if (parts.empty()) return bytes;
  copy.clear();
  copy.reserve(byte_count());
  for (const auto part : parts) copy.insert(copy.end(), part.begin(), part.end());
  return copy;
}

Result<ModelFile> ModelFile::open(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? open_huggingface(path) : open_gguf(path);
}

void ModelFile::add_header(std::span<const std::byte> header, size_t file_bytes) {
  headers_.push_back(header);
  size_ += file_bytes;
}

bool ModelFile::add_key(std::string_view key, GgufValue value) {
  if (!values_.emplace(key, std::move(value)).second) return false;
  key_order_.push_back(key);
  return true;
}

bool ModelFile::add_tensor(GgufTensor tensor) {
  if (!tensor_index_.emplace(tensor.name, tensors_.size()).second) return false;
  tensors_.push_back(std::move(tensor));
  return true;
}

Result<void> ModelFile::append(ModelFile part) {
  for (GgufTensor& tensor : part.tensors_)
    if (const std::string name = printable(tensor.name); !add_tensor(std::move(tensor)))
      return invalid_param(name, "tensor {} is in an earlier part too", name);
  size_ += part.size_;
  headers_.insert(headers_.end(), part.headers_.begin(), part.headers_.end());
  std::ranges::move(part.files_, std::back_inserter(files_));
  return {};
}

const GgufTensor* ModelFile::tensor(std::string_view name) const {
  auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

const GgufValue* ModelFile::value(std::string_view key) const {
  auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::string detail::describe(const GgufValue& value) {
  struct Describe {
    std::string operator()(uint64_t v) const { return fmt::format("the integer {}", v); }
    std::string operator()(int64_t v) const { return fmt::format("the integer {}", v); }
    std::string operator()(double v) const { return fmt::format("the number {}", v); }
    std::string operator()(bool v) const { return fmt::format("the bool {}", v); }
    std::string operator()(std::string_view v) const {
      return fmt::format("the string \"{}\"", printable(v, 40));
    }
    std::string operator()(const GgufArray& v) const {
      return fmt::format("an array of {} {}", v.count, gguf_value_type_name(v.element));
    }
  };
  return std::visit(Describe{}, value);
}

}  // namespace reprise
