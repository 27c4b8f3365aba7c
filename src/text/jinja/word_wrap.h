// Python's textwrap.wrap with the settings of jinja2's wordwrap filter; `width` is at least 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::jinja {

std::vector<std::string> wrap_line(std::string_view line, size_t width, bool break_long_words,
                                   bool break_on_hyphens);

}  // namespace reprise::jinja
