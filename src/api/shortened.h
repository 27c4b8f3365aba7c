// What a client sent, as messages quote it. Pure, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise {

// The first `characters` of it, whole ones, with U+FFFD for what is no UTF-8: paths and headers are any
// bytes.
std::string shortened(std::string_view text, size_t characters);

}  // namespace reprise
