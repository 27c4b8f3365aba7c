#include "model/huggingface/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/huggingface/json.h"
#include "model/model_file.h"

static_assert(std::endian::native == std::endian::little,
              "tensors are read in place: little-endian hosts only");

namespace reprise {
namespace {
namespace json = boost::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the library's own limit
constexpr size_t kMaxDimensions = 8;

struct Type {
  const char* name;
  uint32_t bits;
};
constexpr Type kTypes[] = {{"F64", 64},    {"F32", 32}, {"F16", 16}, {"BF16", 16},   {"I64", 64},
                           {"I32", 32},    {"I16", 16}, {"I8", 8},   {"U64", 64},    {"U32", 32},
                           {"U16", 16},    {"U8", 8},   {"BOOL", 8}, {"F8_E5M2", 8}, {"F8_E4M3", 8},
                           {"F8_E8M0", 8}, {"F4", 4}};

struct Placed {
  SafeTensor tensor;
  uint64_t begin = 0, end = 0;
};

Result<Placed> read_tensor(std::string_view name, const json::value& entry, std::span<const std::byte> data) {
  const std::string shown = printable(name);
  const auto bad = [&](std::string_view why) { return invalid_param(shown, "tensor {}: {}", shown, why); };
  const json::object* fields = entry.if_object();
  if (!fields) return bad("its entry in the header is no object");
  const json::value* type = fields->if_contains("dtype");
  const json::value* shape = fields->if_contains("shape");
  const json::value* offsets = fields->if_contains("data_offsets");
  if (!type || !type->is_string() || !shape || !shape->is_array() || !offsets || !offsets->is_array())
    return bad("wanted dtype, shape and data_offsets in the header");

  Placed placed;
  placed.tensor.name = name;
  placed.tensor.type = std::string(type->get_string());
  const auto* known = std::ranges::find(kTypes, placed.tensor.type, [](const Type& t) { return t.name; });
  if (known == std::end(kTypes))
    return std::unexpected(Error{
        ErrorKind::kUnsupported,
        fmt::format("tensor {} has the unknown type {}", shown, printable(placed.tensor.type, 40)), shown});
  if (shape->get_array().size() > kMaxDimensions) return bad("too many dimensions");
  uint64_t bits = known->bits;
  for (const json::value& size : shape->get_array()) {
    const auto elements = to_unsigned(size);
    if (!elements) return bad("a dimension is no whole number");
    if (__builtin_mul_overflow(bits, *elements, &bits)) return bad("more bits than 64 bits can count");
    placed.tensor.shape.push_back(*elements);
  }
  const json::array& pair = offsets->get_array();
  const auto begin = pair.size() == 2 ? to_unsigned(pair[0]) : std::nullopt;
  const auto end = pair.size() == 2 ? to_unsigned(pair[1]) : std::nullopt;
  if (!begin || !end) return bad("data_offsets are not two whole numbers");
  if (*begin > *end || *end > data.size())
    return bad(
        fmt::format("bytes {} to {} do not lie in the {} bytes of data: the file is truncated or damaged",
                    *begin, *end, data.size()));
  if (bits % 8 != 0 || *end - *begin != bits / 8)
    return bad(fmt::format("{} bytes do not hold its shape, which takes {}", *end - *begin, bits / 8));
  placed.begin = *begin;
  placed.end = *end;
  placed.tensor.bytes = data.subspan(*begin, *end - *begin);
  return placed;
}

}  // namespace

Result<SafeTensors> parse_safetensors(std::span<const std::byte> file) {
  uint64_t length = 0;
  if (file.size() < sizeof length) return invalid("the file is too short to be a safetensors file");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > std::min<uint64_t>(kMaxHeader, file.size() - sizeof length))
    return invalid("the header claims {} bytes of a file of {}: not a safetensors file, or truncated", length,
                   file.size());
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + sizeof length, length);
  const auto data = file.subspan(sizeof length + length);
  const json::object header = TRY(parse_object(text));

  std::vector<Placed> placed;
  for (const auto& [name, entry] : header)
    if (name != "__metadata__") placed.push_back(TRY(read_tensor(name, entry, data)));
  std::ranges::sort(placed, {}, [](const Placed& p) { return std::pair(p.begin, p.end); });
  SafeTensors result{.header = file.first(sizeof length + length)};
  uint64_t at = 0;
  for (Placed& p : placed) {
    if (p.begin != at)
      return invalid_param(printable(p.tensor.name),
                           "tensor {} begins at byte {} of the data, the one before ends at {}",
                           printable(p.tensor.name), p.begin, at);
    at = p.end;
    result.tensors.push_back(std::move(p.tensor));
  }
  if (at != data.size()) return invalid("the data has {} bytes, but its tensors end at {}", data.size(), at);
  return result;
}

}  // namespace reprise
