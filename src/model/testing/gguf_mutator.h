// A GGUF file taken apart, changed in its structure and written again: for a fuzz target whose mutations get
// past the parser. Header only: fuzz targets link the module alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace reprise::testing {

struct GgufParts {
  using Blob = std::vector<std::byte>;
  struct Key {
    std::string name;
    uint32_t type = 0;
    Blob value;  // as in the file
  };
  struct Tensor {
    std::string name;
    std::vector<uint64_t> sizes;
    uint32_t type = 0;
    uint64_t offset = 0;
  };
  uint32_t version = 3;
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
  Blob data;

  // Nothing for what has no such structure.
  static std::optional<GgufParts> read(std::span<const std::byte> bytes);
  Blob write() const;
  // One change: of a key's value, type or name, of a tensor's sizes, type, offset or name, or what is there.
  void mutate(std::mt19937& random);
};

// ---- implementation

namespace detail {

class GgufReader {
 public:
  explicit GgufReader(std::span<const std::byte> bytes) : rest_(bytes), all_(bytes.size()) {}
  bool failed() const { return failed_; }
  size_t position() const { return all_ - rest_.size(); }
  std::span<const std::byte> take(uint64_t n) {
    if (n > rest_.size()) failed_ = true, n = 0;
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }
  template <typename T>
  T number() {
    const auto raw = take(sizeof(T));
    T value{};
    if (!failed_) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto raw = take(number<uint64_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  void skip_value(uint32_t type) {
    constexpr std::array<uint8_t, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type >= kBytes.size()) {
      failed_ = true;
    } else if (type == 8) {
      text();
    } else if (type == 9) {
      const auto element = number<uint32_t>();
      const auto count = number<uint64_t>();
      if (element == 8 || element == 9) {
        for (uint64_t i = 0; i < count && !failed_; ++i) skip_value(element == 8 ? 8 : ~0u);
      } else if (element < kBytes.size() && count <= rest_.size()) {
        take(count * kBytes[element]);
      } else {
        failed_ = true;
      }
    } else {
      take(kBytes[type]);
    }
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
  size_t all_;
  bool failed_ = false;
};

template <typename T>
void append(GgufParts::Blob& out, T value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), raw, raw + sizeof value);
}
inline void append_text(GgufParts::Blob& out, const std::string& text) {
  append<uint64_t>(out, text.size());
  const auto raw = std::as_bytes(std::span(text));
  out.insert(out.end(), raw.begin(), raw.end());
}
inline void align(GgufParts::Blob& out) { out.resize((out.size() + 31) / 32 * 32); }

}  // namespace detail

inline std::optional<GgufParts> GgufParts::read(std::span<const std::byte> bytes) {
  detail::GgufReader in(bytes);
  GgufParts parts;
  if (in.number<uint32_t>() != 0x46554747) return std::nullopt;
  parts.version = in.number<uint32_t>();
  const auto tensors = in.number<uint64_t>(), keys = in.number<uint64_t>();
  for (uint64_t i = 0; i < keys && !in.failed(); ++i) {
    Key key;
    key.name = in.text();
    key.type = in.number<uint32_t>();
    const auto before = in.rest();
    in.skip_value(key.type);
    const auto value = before.first(before.size() - in.rest().size());
    key.value.assign(value.begin(), value.end());
    parts.keys.push_back(std::move(key));
  }
  for (uint64_t i = 0; i < tensors && !in.failed(); ++i) {
    Tensor tensor;
    tensor.name = in.text();
    const auto dimensions = in.number<uint32_t>();
    for (uint32_t d = 0; d < dimensions && !in.failed(); ++d) tensor.sizes.push_back(in.number<uint64_t>());
    tensor.type = in.number<uint32_t>();
    tensor.offset = in.number<uint64_t>();
    parts.tensors.push_back(std::move(tensor));
  }
  in.take(std::min<size_t>((32 - in.position() % 32) % 32, in.rest().size()));
  if (in.failed()) return std::nullopt;
  parts.data.assign(in.rest().begin(), in.rest().end());
  return parts;
}

inline GgufParts::Blob GgufParts::write() const {
  using namespace detail;
  Blob out;
  append<uint32_t>(out, 0x46554747);
  append(out, version);
  append<uint64_t>(out, tensors.size());
  append<uint64_t>(out, keys.size());
  for (const Key& key : keys) {
    append_text(out, key.name);
    append(out, key.type);
    out.insert(out.end(), key.value.begin(), key.value.end());
  }
  for (const Tensor& tensor : tensors) {
    append_text(out, tensor.name);
    append(out, static_cast<uint32_t>(tensor.sizes.size()));
    for (const uint64_t size : tensor.sizes) append(out, size);
    append(out, tensor.type);
    append(out, tensor.offset);
  }
  align(out);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

inline void GgufParts::mutate(std::mt19937& random) {
  constexpr uint64_t kNumbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   8,
                                   31,
                                   32,
                                   33,
                                   64,
                                   255,
                                   4096,
                                   1u << 20,
                                   1u << 24,
                                   ~0u,
                                   uint64_t{1} << 32,
                                   uint64_t{1} << 62,
                                   uint64_t{1} << 63,
                                   ~uint64_t{0} - 31,
                                   ~uint64_t{0}};
  const auto number = [&] { return kNumbers[random() % std::size(kNumbers)]; };
  const auto any = [&](auto& list) -> auto& { return list[random() % list.size()]; };
  const bool on_tensors = keys.empty() || (!tensors.empty() && random() % 2 == 0);
  if (on_tensors && tensors.empty()) return;
  switch (random() % 6 + (on_tensors ? 6 : 0)) {
    case 0:
    case 1: {  // a number, or the beginning of a text or an array
      Blob& value = any(keys).value;
      const uint64_t n = random() % 4 == 0 ? random() : number();
      std::memcpy(value.data(), &n, std::min(value.size(), sizeof n));
      break;
    }
    case 2:  // the value of another key
      any(keys).value = Blob(any(keys).value);
      break;
    case 3: {  // type and value of another key
      const Key other = any(keys);
      Key& key = any(keys);
      key.type = other.type;
      key.value = other.value;
      break;
    }
    case 4:
      any(keys).name = std::string(any(keys).name) + (random() % 2 == 0 ? "" : "x");
      break;
    case 5:
      keys.erase(keys.begin() + static_cast<ptrdiff_t>(random() % keys.size()));
      break;
    case 6:
    case 7: {
      Tensor& tensor = any(tensors);
      if (random() % 4 == 0 || tensor.sizes.empty())
        tensor.sizes.push_back(number());
      else if (random() % 4 == 0)
        tensor.sizes.pop_back();
      else
        any(tensor.sizes) = random() % 2 == 0 ? number() : any(tensor.sizes);
      break;
    }
    case 8:
      any(tensors).type = random() % 42;
      break;
    case 9:
      any(tensors).offset = random() % 2 == 0 ? number() : any(tensors).offset;
      break;
    case 10:
      any(tensors).name = std::string(any(tensors).name) + (random() % 2 == 0 ? "" : "x");
      break;
    default:
      tensors.erase(tensors.begin() + static_cast<ptrdiff_t>(random() % tensors.size()));
  }
}

}  // namespace reprise::testing
