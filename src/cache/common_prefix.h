// How many leading tokens two sequences share, at the speed of memcmp.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/token.h"

namespace reprise {

inline size_t common_prefix(TokenSpan a, TokenSpan b) {
  constexpr size_t kBlock = 256;
  const size_t size = std::min(a.size(), b.size());
  size_t i = 0;
  while (i + kBlock <= size && std::memcmp(&a[i], &b[i], kBlock * sizeof(TokenId)) == 0) i += kBlock;
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

}  // namespace reprise
