// The parser is one pass of a cursor that can only move within the file. Its reads fail once and for all at
// the end of the bytes, so no size is ever computed from unchecked numbers: a count is first bounded by what
// the remaining bytes could hold, then used.
#include "model/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

static_assert(std::endian::native == std::endian::little, "GGUF is read in place: little-endian hosts only");

namespace reprise {
namespace {

// The file's numbers for metadata value types.
enum ValueType : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};
struct ValueTypeInfo {
  const char* name;
  uint32_t bytes;  // of a scalar; 0 for strings and arrays
};
constexpr ValueTypeInfo kValueTypes[] = {
    {"uint8", 1}, {"int8", 1},   {"uint16", 2}, {"int16", 2},  {"uint32", 4}, {"int32", 4},  {"float32", 4},
    {"bool", 1},  {"string", 0}, {"array", 0},  {"uint64", 8}, {"int64", 8},  {"float64", 8}};

constexpr uint64_t kMaxNameBytes = 65535;  // of keys, by the specification; used for tensor names too
constexpr uint64_t kMaxAlignment = 1 << 20;

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  // The next n bytes, or nothing when there are fewer.
  std::optional<std::span<const std::byte>> take(uint64_t n) {
    if (n > remaining()) return std::nullopt;
    auto taken = bytes_.subspan(position_, n);
    position_ += n;
    return taken;
  }
  template <typename T>
  std::optional<T> read() {
    auto raw = take(sizeof(T));
    if (!raw) return std::nullopt;
    T value;
    std::memcpy(&value, raw->data(), sizeof(T));
    return value;
  }
  std::optional<std::string_view> string() {
    auto length = read<uint64_t>();
    if (!length) return std::nullopt;
    auto raw = take(*length);
    if (!raw) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(raw->data()), raw->size());
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

std::unexpected<Error> truncated(std::string_view what) {
  return invalid("the file ends inside {}: it is truncated or damaged", what);
}

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.find('\0') == std::string_view::npos;
}

template <typename T>
GgufValue scalar(std::span<const std::byte> raw) {
  T value;
  std::memcpy(&value, raw.data(), sizeof(T));
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<int64_t>(value);
  else
    return static_cast<uint64_t>(value);
}

GgufValue scalar(uint32_t type, std::span<const std::byte> raw) {
  switch (type) {
    case kUint8:
      return scalar<uint8_t>(raw);
    case kInt8:
      return scalar<int8_t>(raw);
    case kUint16:
      return scalar<uint16_t>(raw);
    case kInt16:
      return scalar<int16_t>(raw);
    case kUint32:
      return scalar<uint32_t>(raw);
    case kInt32:
      return scalar<int32_t>(raw);
    case kFloat32:
      return scalar<float>(raw);
    case kBool:
      return raw[0] != std::byte{0};
    case kUint64:
      return scalar<uint64_t>(raw);
    case kInt64:
      return scalar<int64_t>(raw);
    case kFloat64:
      return scalar<double>(raw);
    default:
      CHECK(false, "not a scalar type: {}", type);
  }
  return {};
}

class GgufParser {
 public:
  explicit GgufParser(std::span<const std::byte> bytes) : bytes_(bytes), cursor_(bytes) {}

  Result<ModelFile> parse() && {
    auto magic = cursor_.read<uint32_t>();
    auto version = cursor_.read<uint32_t>();
    if (!magic || *magic != 0x46554747)
      return invalid("not a GGUF file (it does not begin with the letters GGUF)");
    if (!version) return truncated("the header");
    if ((*version & 0xffff) == 0)
      return fail(ErrorKind::kUnsupported, "big-endian GGUF file: convert it to little-endian first");
    if (*version != 2 && *version != 3)
      return fail(ErrorKind::kUnsupported, "GGUF version {} (supported: 2 and 3)", *version);
    file_.set_container(fmt::format("GGUF v{}", *version));
    auto tensors = cursor_.read<uint64_t>();
    auto entries = cursor_.read<uint64_t>();
    if (!tensors || !entries) return truncated("the header");
    TRY(read_metadata(*entries));
    TRY(read_tensors(*tensors));
    return std::move(file_);
  }

 private:
  // In a large or sparse file a false count passes the check against the file's size; no real file comes near
  // these, and a false one below them costs no memory before its elements are there.
  static constexpr uint64_t kMostEntries = 1 << 20, kMostTensors = 1 << 20, kMostStrings = 1 << 24;
  static size_t believed(uint64_t count) { return static_cast<size_t>(std::min<uint64_t>(count, 1 << 16)); }

  Result<void> read_metadata(uint64_t entries) {
    constexpr uint64_t kSmallestEntry = 8 + 1 + 4 + 1;  // key length, key, type, value
    if (entries > std::min(kMostEntries, cursor_.remaining() / kSmallestEntry))
      return invalid("the header announces {} metadata keys, more than a file can hold", entries);
    for (uint64_t i = 0; i < entries; ++i) {
      auto key = cursor_.string();
      if (!key) return truncated(fmt::format("metadata key {} of {}", i + 1, entries));
      if (!valid_name(*key))
        return invalid("metadata key {} of {} has a bad name: {}", i + 1, entries, printable(*key));
      auto type = cursor_.read<uint32_t>();
      if (!type) return truncated(fmt::format("key {}", printable(*key)));
      GgufValue value = TRY(read_value(*key, *type));
      if (!file_.add_key(*key, std::move(value)))
        return invalid_param(std::string(*key), "key {} occurs twice", printable(*key));
    }
    alignment_ = TRY(file_.get_or<uint64_t>("general.alignment", 32));
    if (!std::has_single_bit(alignment_) || alignment_ < 8 || alignment_ > kMaxAlignment)
      return invalid_param("general.alignment",
                           "key general.alignment is {}, wanted a power of two from 8 to {}", alignment_,
                           kMaxAlignment);
    return {};
  }

  Result<GgufValue> read_value(std::string_view key, uint32_t type) {
    if (type >= std::size(kValueTypes))
      return invalid_param(std::string(key), "key {} has the unknown value type {}", printable(key), type);
    if (type == kString) {
      auto text = cursor_.string();
      if (!text) return truncated(fmt::format("key {}", printable(key)));
      return *text;
    }
    if (type == kArray) return read_array(key);
    auto raw = cursor_.take(kValueTypes[type].bytes);
    if (!raw) return truncated(fmt::format("key {}", printable(key)));
    return scalar(type, *raw);
  }

  Result<GgufValue> read_array(std::string_view key) {
    auto type = cursor_.read<uint32_t>();
    auto count = cursor_.read<uint64_t>();
    if (!type || !count) return truncated(fmt::format("key {}", printable(key)));
    if (*type >= std::size(kValueTypes))
      return invalid_param(std::string(key), "key {} is an array of the unknown value type {}",
                           printable(key), *type);
    if (*type == kArray)
      return invalid_param(std::string(key), "key {} is an array of arrays, which GGUF readers do not use",
                           printable(key));
    GgufArray array;
    array.element = *type;
    array.count = *count;
    const uint64_t smallest = *type == kString ? 8 : kValueTypes[*type].bytes;
    if (*count > std::min(*type == kString ? kMostStrings : ~uint64_t{0}, cursor_.remaining() / smallest))
      return invalid_param(std::string(key), "key {} announces {} elements, more than a file can hold",
                           printable(key), *count);
    if (*type != kString) {
      array.raw = *cursor_.take(*count * smallest);
      return array;
    }
    array.strings.reserve(believed(*count));
    for (uint64_t i = 0; i < *count; ++i) {
      auto text = cursor_.string();
      if (!text) return truncated(fmt::format("element {} of key {}", i, printable(key)));
      array.strings.push_back(*text);
    }
    return array;
  }

  Result<void> read_tensors(uint64_t count) {
    constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;  // name, dimensions, one size, type, offset
    if (count > std::min(kMostTensors, cursor_.remaining() / kSmallestTensor))
      return invalid("the header announces {} tensors, more than a file can hold", count);
    std::vector<uint64_t> offsets;
    std::vector<GgufTensor> tensors;
    offsets.reserve(believed(count));
    tensors.reserve(believed(count));
    for (uint64_t i = 0; i < count; ++i)
      tensors.push_back(TRY(read_tensor(i, count, offsets.emplace_back())));
    file_.add_header(bytes_.first(cursor_.position()), bytes_.size());

    // The data section starts at the next multiple of the alignment; a file without tensors may end before
    // it.
    const uint64_t mask = alignment_ - 1;
    const uint64_t start = (uint64_t{cursor_.position()} + mask) & ~mask;
    const uint64_t available = start < bytes_.size() ? bytes_.size() - start : 0;
    for (uint64_t i = 0; i < count; ++i) {
      GgufTensor& tensor = tensors[i];
      const uint64_t size = tensor.elements / tensor.type->block_elements * tensor.type->block_bytes;
      if (offsets[i] & mask)
        return invalid_param(std::string(tensor.name),
                             "tensor {}: offset {} is not a multiple of the alignment {}",
                             printable(tensor.name), offsets[i], alignment_);
      if (offsets[i] > available || size > available - offsets[i])
        return invalid_param(
            std::string(tensor.name),
            "tensor {}: {} bytes at offset {} reach past the end of the file ({} bytes of data): it is "
            "truncated or damaged",
            printable(tensor.name), size, offsets[i], available);
      tensor.bytes = bytes_.subspan(start + offsets[i], size);
      if (!file_.add_tensor(tensor))
        return invalid_param(std::string(tensor.name), "tensor {} occurs twice", printable(tensor.name));
    }
    return check_overlaps(std::move(tensors));
  }

  // Bytes of two tensors at once are a damaged file's: one of them would be read as the other.
  static Result<void> check_overlaps(std::vector<GgufTensor> tensors) {
    std::ranges::sort(tensors, {}, [](const GgufTensor& t) { return t.bytes.data(); });
    for (size_t i = 1; i < tensors.size(); ++i)
      if (tensors[i - 1].bytes.data() + tensors[i - 1].bytes.size() > tensors[i].bytes.data())
        return invalid_param(std::string(tensors[i].name), "tensors {} and {} overlap: the file is damaged",
                             printable(tensors[i - 1].name), printable(tensors[i].name));
    return {};
  }

  // Everything of a tensor but its bytes. The byte count is proved to fit 64 bits.
  Result<GgufTensor> read_tensor(uint64_t index, uint64_t count, uint64_t& offset) {
    GgufTensor tensor;
    auto name = cursor_.string();
    if (!name) return truncated(fmt::format("tensor {} of {}", index + 1, count));
    if (!valid_name(*name))
      return invalid("tensor {} of {} has a bad name: {}", index + 1, count, printable(*name));
    tensor.name = *name;
    const std::string shown = printable(*name);
    auto dimensions = cursor_.read<uint32_t>();
    if (!dimensions) return truncated("tensor " + shown);
    if (*dimensions < 1 || *dimensions > 4)
      return invalid_param(shown, "tensor {} has {} dimensions (1 to 4 are possible)", shown, *dimensions);
    tensor.dimensions = *dimensions;
    tensor.elements = 1;
    for (uint32_t d = 0; d < *dimensions; ++d) {
      auto size = cursor_.read<uint64_t>();
      if (!size) return truncated("tensor " + shown);
      if (*size == 0) return invalid_param(shown, "tensor {}: dimension {} is 0", shown, d);
      tensor.size[d] = *size;
      if (__builtin_mul_overflow(tensor.elements, *size, &tensor.elements))
        return invalid_param(shown, "tensor {}: more elements than 64 bits can count", shown);
    }
    auto type = cursor_.read<uint32_t>();
    auto at = cursor_.read<uint64_t>();
    if (!type || !at) return truncated("tensor " + shown);
    tensor.type = gguf_type(*type);
    if (!tensor.type)
      return std::unexpected(Error{ErrorKind::kUnsupported,
                                   fmt::format("tensor {} has the unknown type {}", shown, *type), shown});
    if (tensor.size[0] % tensor.type->block_elements != 0)
      return invalid_param(shown, "tensor {}: rows of {} elements are not whole blocks of {} ({})", shown,
                           tensor.size[0], tensor.type->block_elements, tensor.type->name);
    uint64_t size;
    if (__builtin_mul_overflow(tensor.elements / tensor.type->block_elements,
                               uint64_t{tensor.type->block_bytes}, &size))
      return invalid_param(shown, "tensor {}: more bytes than 64 bits can count", shown);
    offset = *at;
    return tensor;
  }

  std::span<const std::byte> bytes_;
  Cursor cursor_;
  uint64_t alignment_ = 32;
  ModelFile file_;
};

}  // namespace

const char* gguf_value_type_name(uint32_t id) {
  return id < std::size(kValueTypes) ? kValueTypes[id].name : "unknown";
}

Result<ModelFile> parse_gguf(std::span<const std::byte> bytes) { return GgufParser(bytes).parse(); }

}  // namespace reprise
