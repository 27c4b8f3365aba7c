#include "http/headers.h"

#include <algorithm>

namespace reprise::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

Headers& Headers::set(std::string_view name, std::string_view value) {
  for (auto& [key, old] : fields_) {
    if (equal_ignoring_case(key, name)) {
      old = value;
      return *this;
    }
  }
  return add(name, value);
}

Headers& Headers::add(std::string_view name, std::string_view value) {
  fields_.emplace_back(name, value);
  return *this;
}

std::optional<std::string_view> Headers::get(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return std::nullopt;
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
  for (const auto& [key, value] : fields_) {
    if (!equal_ignoring_case(key, name)) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (equal_ignoring_case(trim(rest.substr(0, comma)), token)) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

}  // namespace reprise::http
