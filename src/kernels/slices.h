// The checks of KV shapes and pages that every table makes before it touches them.
#pragma once

#include "kernels/table.h"

namespace reprise::kernels {

// Aborts unless pages have a size that KvShape allows, the layer exists, and every slice has the pages of its
// positions.
void check_slices(const KvShape& shape, uint32_t layer, std::span<const Slice> slices);

// The first key that the row at `position` sees through a window (0: no window).
inline uint32_t first_key(uint32_t position, uint32_t window) {
  return window == 0 || position < window ? 0 : position + 1 - window;
}

}  // namespace reprise::kernels
