// The KV page of the SIMD tables: [layer][kv head]{ K tiles, V tiles }, a tile being 16 tokens in bf16 pairs:
//   K tile [dim / 2][16 tokens][2 dims]    V tile [16 / 2 token pairs][dim][2 tokens]
// so that one 64-byte vector is 16 tokens (K) or 16 dimensions (V) times a pair: both the operand of a bf16
// dot product (AMX B tile, VDPBF16PS) and, by shift and mask, two vectors of fp32. `dim` is head_dim rounded
// up to 16, zero-filled. In int8 a tile has the same places of one byte each, then fp32 scale[16 tokens].
#pragma once

#include "kernels/cpu/micro.h"
#include "kernels/table.h"

namespace reprise::kernels::cpu {

inline uint32_t padded_dim(const KvShape& shape) { return (shape.head_dim + 15) / 16 * 16; }

// Of 16 tokens' keys, or values.
inline size_t kv_tile_bytes(const KvShape& shape) {
  const size_t elements = size_t{kKvTile} * padded_dim(shape);
  return shape.type == KvType::kInt8 ? elements + kKvTile * sizeof(float) : elements * sizeof(uint16_t);
}

// Where one layer and kv head is in every page.
inline KvHead kv_head(const KvShape& shape, uint32_t layer, uint32_t head, std::byte* const* pages) {
  const uint32_t dim = padded_dim(shape);
  const size_t half = shape.page_tokens / kKvTile * kv_tile_bytes(shape);  // K or V of one head
  const size_t at = (size_t{layer} * shape.kv_heads + head) * 2 * half;
  return {pages, shape.page_tokens, at, at + half, kv_tile_bytes(shape), dim};
}

}  // namespace reprise::kernels::cpu
