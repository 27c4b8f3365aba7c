#pragma once

#include <cstdint>
#include <span>

namespace reprise {
using TokenId = int32_t;  // valid ids are 0 .. vocabulary size - 1
using TokenSpan = std::span<const TokenId>;
using RequestId = uint64_t;  // unique in this process, never reused, never 0
}  // namespace reprise
