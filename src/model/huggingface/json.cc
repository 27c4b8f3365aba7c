#include "model/huggingface/json.h"

#include <fstream>
#include <sstream>

namespace reprise {
namespace json = boost::json;
namespace {
constexpr uintmax_t kMaxBytes = uintmax_t{256} << 20;  // tokenizer.json reaches tens of MiB
}

Result<json::object> parse_object(std::string_view text) {
  boost::system::error_code error;
  json::value value;
  try {
    value = json::parse(json::string_view(text.data(), text.size()), error);
  } catch (const std::exception&) {  // std::length_error of a container
    return invalid("not JSON of any sensible size");
  }
  if (error) return invalid("not valid JSON: {}", error.message());
  if (!value.is_object()) return invalid("the JSON text is no object");
  return std::move(value.get_object());
}

Result<std::optional<std::string>> read_text(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return std::nullopt;
  if (error) return invalid("{}: {}", path.string(), error.message());
  if (size > kMaxBytes) return invalid("{}: {} bytes are too many", path.string(), size);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (size > 0) text << file.rdbuf();
  if (!file.good()) return invalid("{}: cannot be read", path.string());
  return std::move(text).str();
}

Result<std::optional<json::object>> read_object(const std::filesystem::path& path) {
  const auto text = TRY(read_text(path));
  if (!text) return std::nullopt;
  auto object = parse_object(*text);
  if (!object) return invalid("{}: {}", path.string(), object.error().message);
  return std::move(*object);
}

std::optional<uint64_t> to_unsigned(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) return static_cast<uint64_t>(value.get_int64());
  return std::nullopt;
}

std::optional<double> to_number(const json::value& value) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return std::nullopt;
}

}  // namespace reprise
