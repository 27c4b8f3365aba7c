#include "text/jinja/builtins.h"

#include <unordered_map>

namespace reprise::jinja {

Builtin find_filter(std::string_view name) {
  static const auto* const kFilters = [] {
    auto* filters = new std::unordered_map<std::string_view, Builtin>;  // lives as long as the process
    for (const auto& group : {text_filters(), value_filters(), sequence_filters(), select_filters()}) {
      for (const NamedBuiltin& filter : group) filters->emplace(filter.name, filter.call);
    }
    return filters;
  }();
  const auto found = kFilters->find(name);
  return found == kFilters->end() ? nullptr : found->second;
}

}  // namespace reprise::jinja
