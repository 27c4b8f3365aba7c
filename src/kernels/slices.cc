#include "kernels/slices.h"

#include "base/check.h"

namespace reprise::kernels {

void check_slices(const KvShape& s, uint32_t layer, std::span<const Slice> slices) {
  CHECK(s.page_tokens > 0 && s.page_tokens % 16 == 0 && 512 % s.page_tokens == 0, "pages of {} tokens",
        s.page_tokens);
  CHECK(layer < s.layers, "layer {} of {}", layer, s.layers);
  for (const Slice& slice : slices)
    CHECK((size_t{slice.position} + slice.rows + s.page_tokens - 1) / s.page_tokens <= slice.pages.size(),
          "{} rows at {} need more than {} pages", slice.rows, slice.position, slice.pages.size());
}

}  // namespace reprise::kernels
