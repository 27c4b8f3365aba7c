// What a model's files hold, whatever their container: metadata by key and tensors by name, both by GGUF's
// names (github.com/ggml-org/ggml/blob/master/docs/gguf.md), under which a Hugging Face folder presents
// itself too. So the code that builds models knows no containers.
//
// Model files are untrusted: every count, offset, size and string has been checked against the files'
// lengths. All views (strings, tensor bytes) live as long as the ModelFile.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "kernels/table.h"

namespace reprise {

// How a tensor is stored. Types without a WeightType are known by name and size only.
struct GgufType {
  uint32_t id;  // in the file
  const char* name;
  uint32_t block_elements, block_bytes;
  std::optional<kernels::WeightType> weight;
};

struct GgufTensor {
  std::string_view name;
  const GgufType* type = nullptr;
  uint32_t dimensions = 0;  // 1 .. 4
  uint64_t size[4] = {1, 1, 1,
                      1};  // elements; size[0] is contiguous: a matrix has size[0] columns, size[1] rows
  uint64_t elements = 0;
  std::span<const std::byte> bytes;
  // A stack whose matrices lie apart (experts of a Hugging Face folder): each of them, in order; bytes is
  // empty then.
  std::vector<std::span<const std::byte>> parts;
  // Matrices that lie in `bytes` by [inputs][every * outputs], of whose columns this has those from `first`
  // on; plain elements only.
  struct Columns {
    uint64_t inputs = 1, outputs = 1, every = 1, first = 0;
  };
  std::optional<Columns> columns;

  size_t byte_count() const;
  // All bytes in one piece, in `copy` if need be.
  std::span<const std::byte> whole(std::vector<std::byte>& copy) const;
};

struct GgufArray {
  uint32_t element = 0;  // the file's value type number
  uint64_t count = 0;
  std::span<const std::byte> raw;         // numbers and bools, unaligned little-endian
  std::vector<std::string_view> strings;  // when the elements are strings
};

using GgufValue = std::variant<uint64_t, int64_t, double, bool, std::string_view, GgufArray>;

class ModelFile {
 public:
  // A GGUF file, any part of a split one, or a Hugging Face folder.
  static Result<ModelFile> open(const std::filesystem::path& path);
  ModelFile() = default;
  ModelFile(ModelFile&&) = default;
  ModelFile& operator=(ModelFile&&) = default;

  const std::string& container() const { return container_; }  // "GGUF v3", "safetensors"
  size_t parts() const { return std::max<size_t>(1, files_.size()); }
  std::span<const GgufTensor> tensors() const { return tensors_; }       // in file order, part after part
  const GgufTensor* tensor(std::string_view name) const;                 // null when there is none
  std::span<const std::string_view> keys() const { return key_order_; }  // in file order
  const GgufValue* value(std::string_view key) const;                    // null when there is none
  // What a person should know of how the files were read, a line each.
  const std::vector<std::string>& notes() const { return notes_; }
  // Metadata and tensor table of each part.
  std::span<const std::span<const std::byte>> headers() const { return headers_; }
  size_t bytes() const { return size_; }  // of all parts

  // Metadata as T: bool, an integer or floating type, std::string_view, or const GgufArray*. Integers convert
  // when the value fits, numbers to floating types. Errors name the key: absent (require only), another type,
  // out of range.
  template <typename T>
  Result<T> require(std::string_view key) const;
  template <typename T>
  Result<std::optional<T>> find(std::string_view key) const;
  template <typename T>
  Result<T> get_or(std::string_view key, T fallback) const {
    return TRY(find<T>(key)).value_or(fallback);
  }

  // The kernel's own tables of tensor data are no longer needed: lets the memory go; the bytes stay readable.
  void drop_pages() const {
    for (const MappedFile& file : files_) file.drop_pages();
  }

  // ---- for readers of containers. Views must point into something that is kept.
  void set_container(std::string name) { container_ = std::move(name); }
  void keep(MappedFile file) { files_.push_back(std::move(file)); }
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::span<const std::byte> keep(std::vector<std::byte> bytes) {
    return blobs_.emplace_back(std::move(bytes));
  }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  void add_header(std::span<const std::byte> header, size_t file_bytes);
  // False: the name was there already, and nothing was changed.
  bool add_key(std::string_view key, GgufValue value);
  bool add_tensor(GgufTensor tensor);
  // Takes over the tensors of the next part. Error: a tensor that is there already.
  Result<void> append(ModelFile part);

 private:
  std::string container_;
  size_t size_ = 0;
  std::vector<MappedFile> files_;
  std::vector<std::string> notes_;
  std::deque<std::string> texts_;  // addresses survive growth and moves
  std::deque<std::vector<std::byte>> blobs_;
  std::vector<std::span<const std::byte>> headers_;
  std::vector<std::string_view> key_order_;
  std::unordered_map<std::string_view, GgufValue> values_;
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, size_t> tensor_index_;
};

const GgufType* gguf_type(uint32_t id);         // null when unknown
const char* gguf_value_type_name(uint32_t id);  // "uint32", "string", ...
// Text of a file for a terminal or a log line: control characters and bytes that are not UTF-8 as \xNN, cut
// at `limit`.
std::string printable(std::string_view text, size_t limit = 120);

// ---- implementation of the typed access

namespace detail {
template <typename T>
std::optional<T> convert(const GgufValue& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string_view>) {
    if (const T* v = std::get_if<T>(&value)) return *v;
  } else if constexpr (std::is_same_v<T, const GgufArray*>) {
    if (const auto* v = std::get_if<GgufArray>(&value)) return v;
  } else if constexpr (std::is_integral_v<T>) {
    if (const auto* v = std::get_if<uint64_t>(&value); v && std::in_range<T>(*v)) return static_cast<T>(*v);
    if (const auto* v = std::get_if<int64_t>(&value); v && std::in_range<T>(*v)) return static_cast<T>(*v);
  } else {
    static_assert(std::is_floating_point_v<T>);
    std::optional<double> number;
    if (const auto* v = std::get_if<double>(&value)) number = *v;
    if (const auto* v = std::get_if<uint64_t>(&value)) number = static_cast<double>(*v);
    if (const auto* v = std::get_if<int64_t>(&value)) number = static_cast<double>(*v);
    if (number && std::isfinite(*number) &&
        std::abs(*number) <= static_cast<double>(std::numeric_limits<T>::max()))
      return static_cast<T>(*number);
  }
  return std::nullopt;
}
template <typename T>
constexpr const char* expected_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "a bool";
  else if constexpr (std::is_same_v<T, std::string_view>)
    return "a string";
  else if constexpr (std::is_same_v<T, const GgufArray*>)
    return "an array";
  else if constexpr (std::is_integral_v<T>)
    return "an integer in range";
  else
    return "a finite number";
}
std::string describe(const GgufValue& value);
}  // namespace detail

template <typename T>
Result<std::optional<T>> ModelFile::find(std::string_view key) const {
  const GgufValue* found = value(key);
  if (!found) return std::nullopt;
  if (auto converted = detail::convert<T>(*found)) return converted;
  return invalid_param(std::string(key), "key {} is {}, wanted {}", key, detail::describe(*found),
                       detail::expected_name<T>());
}

template <typename T>
Result<T> ModelFile::require(std::string_view key) const {
  if (auto found = TRY(find<T>(key))) return *found;
  return invalid_param(std::string(key), "key {} is missing", key);
}

}  // namespace reprise
