// Sizes in bytes as people read and write them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise {

// "1500000", "60M", "8G", "1.5GiB": bytes. K, M, G, T are powers of 1024, with or without "B" or "iB".
Result<size_t> parse_size(std::string_view text);
// The same the other way: "58.6 MiB".
std::string format_size(size_t bytes);

}  // namespace reprise
