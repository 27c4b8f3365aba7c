#include "api/fields.h"

#include <cmath>

#include "api/json_body.h"
#include "api/json_text.h"

namespace reprise {
namespace json = boost::json;

const json::value* Fields::find(std::string_view key) const {
  const json::value* value = object_->if_contains(key);
  return value && !value->is_null() ? value : nullptr;
}

std::string Fields::path(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

Result<std::optional<bool>> Fields::boolean(std::string_view key) const {
  const json::value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_bool()) return wrong_type(path(key), "a boolean", *value);
  return value->get_bool();
}

Result<std::optional<int64_t>> Fields::integer(std::string_view key, int64_t lowest, int64_t highest) const {
  const json::value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number()) return wrong_type(path(key), "an integer", *value);
  std::optional<int64_t> integer = as_integer(*value);
  if (!integer && value->is_double() && value->get_double() != std::floor(value->get_double())) {
    return wrong_type(path(key), "an integer", *value);
  }
  if (!integer || *integer < lowest || *integer > highest) {
    return invalid_param(path(key), "'{}' must be between {} and {}, not {}.", path(key), lowest, highest,
                         json_text(*value));
  }
  return integer;
}

Result<std::optional<double>> Fields::number(std::string_view key, double lowest, double highest) const {
  const json::value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number()) return wrong_type(path(key), "a number", *value);
  double number = value->to_number<double>();
  if (!(number >= lowest && number <= highest)) {
    return invalid_param(path(key), "'{}' must be between {} and {}, not {}.", path(key), lowest, highest,
                         json_text(*value));
  }
  return number;
}

Result<std::optional<std::string>> Fields::string(std::string_view key) const {
  const json::value* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) return wrong_type(path(key), "a string", *value);
  return std::string(value->get_string());
}

Result<const json::array*> Fields::array(std::string_view key) const {
  const json::value* value = find(key);
  if (value && !value->is_array()) return wrong_type(path(key), "an array", *value);
  return value ? &value->get_array() : nullptr;
}

Result<const json::object*> Fields::object(std::string_view key) const {
  const json::value* value = find(key);
  if (value && !value->is_object()) return wrong_type(path(key), "an object", *value);
  return value ? &value->get_object() : nullptr;
}

std::optional<int64_t> as_integer(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) {  // Boost.JSON uses it only past int64's range
    uint64_t number = value.get_uint64();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (!value.is_double()) return std::nullopt;
  double number = value.get_double();
  constexpr double kExact = 9007199254740992.0;  // 2^53: every integer up to here is a double
  if (number != std::floor(number) || std::fabs(number) > kExact) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::unexpected<Error> wrong_type(std::string path, std::string_view wanted, const json::value& value) {
  Error error{
      ErrorKind::kInvalid, fmt::format("'{}' must be {}, not {}.", path, wanted, type_name(value)), {}};
  error.param = std::move(path);
  return std::unexpected(std::move(error));
}

}  // namespace reprise
