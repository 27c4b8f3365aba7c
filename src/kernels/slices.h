// The checks of KV shapes and pages that every table makes before it touches them.
#pragma once

#include "kernels/table.h"

namespace reprise::kernels {

// Aborts unless pages have a size that KvShape allows, the layer exists, and every slice has the pages of its
// positions.
void check_slices(const KvShape& shape, uint32_t layer, std::span<const Slice> slices);

}  // namespace reprise::kernels
