#include "model/testing/gguf_copy.h"

#include <cstring>

#include "base/check.h"

namespace reprise::testing {
namespace {

// Row r of each head of `dim` rows: the halves' rows i and i + dim / 2 become 2i and 2i + 1.
std::vector<std::byte> permuted(const GgufTensor& tensor, uint64_t heads) {
  const uint64_t rows = tensor.dimensions == 1 ? tensor.size[0] : tensor.size[1];
  const size_t bytes = tensor.bytes.size() / rows;
  const uint64_t dim = rows / heads;
  std::vector<std::byte> out(tensor.bytes.size());
  for (uint64_t r = 0; r < rows; ++r) {
    const uint64_t i = r % dim, to = r - i + (i < dim / 2 ? 2 * i : 2 * (i - dim / 2) + 1);
    std::memcpy(out.data() + to * bytes, tensor.bytes.data() + r * bytes, bytes);
  }
  return out;
}

}  // namespace

GgufWriter copy_to_gguf(const ModelFile& file) {
  GgufWriter out;
  const auto architecture = file.require<std::string_view>("general.architecture");
  CHECK(architecture.has_value());
  const std::string prefix = std::string(*architecture) + ".";
  const bool permute = (*architecture == "llama" || *architecture == "mistral3") &&
                       file.get_or<bool>(prefix + "rope.interleaved", true) == false;
  for (const std::string_view key : file.keys()) {
    if (key == prefix + "rope.interleaved") continue;
    struct Put {
      GgufWriter& out;
      std::string_view key;
      void operator()(uint64_t v) const { out.put(key, static_cast<uint32_t>(v)); }
      void operator()(int64_t v) const { out.put(key, static_cast<int32_t>(v)); }
      void operator()(double v) const { out.put(key, static_cast<float>(v)); }
      void operator()(bool v) const { out.put(key, v); }
      void operator()(std::string_view v) const { out.put(key, v); }
      void operator()(const GgufArray& v) const {
        if (!v.raw.data()) {
          out.put(key, std::vector<std::string>(v.strings.begin(), v.strings.end()));
          return;
        }
        if (v.element == 7) {
          std::vector<bool> flags;
          for (const std::byte b : v.raw) flags.push_back(b != std::byte{0});
          out.put(key, flags);
          return;
        }
        CHECK(v.element == 5, "an array of {}", gguf_value_type_name(v.element));
        std::vector<int32_t> values(v.count);
        std::memcpy(values.data(), v.raw.data(), v.raw.size());
        out.put(key, values);
      }
    };
    std::visit(Put{out, key}, *file.value(key));
  }
  for (const GgufTensor& tensor : file.tensors()) {
    std::vector<std::byte> copy;
    const auto whole = tensor.whole(copy);
    std::vector<std::byte> bytes(whole.begin(), whole.end());
    const bool q = tensor.name.find(".attn_q.") != tensor.name.npos,
               k = tensor.name.find(".attn_k.") != tensor.name.npos;
    if (permute && (q || k)) {
      const auto heads =
          file.require<uint64_t>(prefix + (q ? "attention.head_count" : "attention.head_count_kv"));
      CHECK(heads.has_value());
      bytes = permuted(tensor, *heads);
    }
    out.tensor(tensor.name, tensor.type->id, {tensor.size, tensor.size + tensor.dimensions},
               std::move(bytes));
  }
  return out;
}

}  // namespace reprise::testing
