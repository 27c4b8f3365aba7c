// The tools that a request offers, as far as parsers must know them: names, and which JSON types each
// parameter takes, for families that write values without quotes. Immutable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

namespace reprise::calls {

// A set of JSON types.
enum JsonTypes : uint8_t {
  kNoType = 0,
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
  kAnyType = 127,
};

// What a JSON schema (draft 2020-12) allows at its top: by type, const, enum, anyOf, oneOf, allOf and $ref
// within `root`. kAnyType where it does not say.
JsonTypes types_of(const boost::json::value& schema, const boost::json::value& root);

class Tools {
 public:
  Tools() = default;
  // OpenAI's tool objects, {"type": "function", "function": {"name", "parameters"}}; others are left out.
  explicit Tools(const boost::json::array& tools);

  bool empty() const { return names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }  // in the request's order
  bool offers(std::string_view name) const { return tools_.contains(name); }
  // Of a parameter: kNoType when the tool or the parameter is not declared.
  JsonTypes types(std::string_view tool, std::string_view parameter) const;
  // The only tool that declares all of `keys` and requires no more than them; empty when there is none or
  // more.
  std::string_view that_takes(const std::vector<std::string>& keys) const;

 private:
  struct Tool {
    std::map<std::string, JsonTypes, std::less<>> parameters;
    std::vector<std::string> required;
  };
  std::map<std::string, Tool, std::less<>> tools_;
  std::vector<std::string> names_;
};

// A value that was written as bare text: JSON of one of `types` if it is that, else a string.
std::string json_value_of(std::string_view text, JsonTypes types);

}  // namespace reprise::calls
