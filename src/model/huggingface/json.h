// JSON files of a model folder: parsed whole, untrusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

// Error: not valid JSON, or no object.
Result<boost::json::object> parse_object(std::string_view text);
// A file's text; nothing when there is no such file. Error: it cannot be read, or is larger than a file of a
// model folder that holds no weights can be.
Result<std::optional<std::string>> read_text(const std::filesystem::path& path);
// The object a file holds; nothing when there is no such file. Errors name the file.
Result<std::optional<boost::json::object>> read_object(const std::filesystem::path& path);

// A whole number from 0 on; nothing for anything else.
std::optional<uint64_t> to_unsigned(const boost::json::value& value);
// A number of any kind.
std::optional<double> to_number(const boost::json::value& value);

}  // namespace reprise
