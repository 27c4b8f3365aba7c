// Reading a tokenizer.json: values with their place in the file, so that every error names it.
#pragma once

#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

// A value somewhere in the file. Views live as long as the parsed document.
class JsonNode {
 public:
  JsonNode(const boost::json::value& value, std::string place) : value_(&value), place_(std::move(place)) {}

  const boost::json::value& value() const { return *value_; }
  const std::string& place() const { return place_; }
  bool is_null() const { return value_->is_null(); }

  // A member; of what is no object, and where there is none, a null.
  JsonNode operator[](std::string_view key) const;
  // As a type. kInvalid names the place and the type wanted.
  Result<std::string_view> string() const;
  Result<bool> boolean() const;
  Result<int64_t> integer() const;
  Result<double> number() const;
  Result<const boost::json::object*> object() const;
  Result<const boost::json::array*> array() const;
  // The same with a value for null.
  Result<std::string_view> string_or(std::string_view other) const;
  Result<bool> boolean_or(bool other) const;
  JsonNode at(size_t index) const;  // of an array that has it

 private:
  std::unexpected<Error> wanted(std::string_view type) const;
  const boost::json::value* value_;
  std::string place_;
};

// kInvalid: no JSON, too deep, or no object.
Result<boost::json::value> parse_json_file(std::string_view text, std::string_view name,
                                           boost::json::storage_ptr storage);

}  // namespace reprise
