// Operations on text that methods of str and filters share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

enum class Side : uint8_t { kLeft, kRight, kBoth };

// str.strip and its kin; without `characters`, white space.
std::string_view strip(std::string_view s, Side side, std::optional<std::string_view> characters);
// str.replace; a negative limit replaces all.
Value replace(Runtime& rt, std::string_view s, std::string_view from, std::string_view to, int64_t limit,
              bool safe);
// str.center (kBoth), str.rjust (kLeft: padding on the left), str.ljust.
Value pad_to(Runtime& rt, Value s, int64_t width, std::string_view fill, Side padding);
// separator.join(items), each converted by str() when `convert`, else required to be a string.
Value join(Runtime& rt, Value separator, Value items, bool convert);

}  // namespace reprise::jinja
