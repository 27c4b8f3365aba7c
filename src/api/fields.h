// Reads typed fields from a JSON object and names the offending one in errors ("messages[2].content").
//
// A field that is absent or null is "not given": empty optional or nullptr. A wrong type or a value out of
// range is kInvalid with `param` set. Unknown fields are never looked at. A Fields refers to the object; it
// owns only its path.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

class Fields {
 public:
  explicit Fields(const boost::json::object& object, std::string path = {})
      : object_(&object), path_(std::move(path)) {}

  const boost::json::value* find(std::string_view key) const;  // nullptr when absent or null
  std::string path(std::string_view key) const;                // as errors name the field

  Result<std::optional<bool>> boolean(std::string_view key) const;
  // Accepts 3 and 3.0, not "3".
  Result<std::optional<int64_t>> integer(std::string_view key, int64_t lowest, int64_t highest) const;
  Result<std::optional<double>> number(std::string_view key, double lowest, double highest) const;
  Result<std::optional<std::string>> string(std::string_view key) const;
  Result<const boost::json::array*> array(std::string_view key) const;
  Result<const boost::json::object*> object(std::string_view key) const;

 private:
  const boost::json::object* object_;
  std::string path_;
};

// The integer a JSON number stands for, if it is one that fits.
std::optional<int64_t> as_integer(const boost::json::value& value);
// kInvalid: "'path' must be WANTED, not a string."
std::unexpected<Error> wrong_type(std::string path, std::string_view wanted, const boost::json::value& value);

}  // namespace reprise
