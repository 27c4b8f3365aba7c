// Header fields of a message, in their order; names compare without case (RFC 9110 §5.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::http {

// ASCII only, as the protocol's tokens are.
bool equal_ignoring_case(std::string_view a, std::string_view b);

class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  // Replaces the field of that name, or appends it.
  Headers& set(std::string_view name, std::string_view value);
  // Appends, beside fields of the same name.
  Headers& add(std::string_view name, std::string_view value);
  // The first field of that name. The view lives until the headers change.
  std::optional<std::string_view> get(std::string_view name) const;
  // Whether the comma-separated list in that field holds `token`, without case: has_token("Connection",
  // "close").
  bool has_token(std::string_view name, std::string_view token) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  size_t size() const { return fields_.size(); }

 private:
  std::vector<Field> fields_;
};

}  // namespace reprise::http
