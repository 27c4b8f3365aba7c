// Design: a task stores one kv head of up to 16 rows that lie in one tile. K stores are 32 bits (two dims of
// a token), V stores 16 bits (a token's half of each pair), so tasks on neighbouring tokens never touch the
// same bytes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/drivers.h"
#include "kernels/cpu/kv_pages.h"
#include "kernels/kv_int8.h"
#include "kernels/slices.h"

namespace reprise::kernels::cpu {

namespace {
constexpr size_t kSerialElements = 4 << 10;

// Round to nearest even; NaN stays NaN.
uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void write_token(const KvHead& head, uint32_t head_dim, uint32_t position, const float* k, const float* v) {
  std::byte* page = head.pages[position / head.page_tokens];
  const uint32_t in_page = position % head.page_tokens, token = in_page % kKvTile;
  auto* k_tile = reinterpret_cast<uint16_t*>(page + head.k_offset + in_page / kKvTile * head.tile_bytes);
  auto* v_tile = reinterpret_cast<uint16_t*>(page + head.v_offset + in_page / kKvTile * head.tile_bytes);
  uint16_t* to = v_tile + size_t{token / 2} * head.dim * 2 + token % 2;
  for (uint32_t d = 0; d < head.dim; ++d) {
    const bool real = d < head_dim;
    k_tile[size_t{d / 2} * kKvTile * 2 + token * 2 + d % 2] = real ? to_bf16(k[d]) : uint16_t{0};
    to[size_t{d} * 2] = real ? to_bf16(v[d]) : uint16_t{0};
  }
}

void write_token_int8(const KvHead& head, uint32_t head_dim, uint32_t position, const float* k,
                      const float* v) {
  std::byte* page = head.pages[position / head.page_tokens];
  const uint32_t in_page = position % head.page_tokens, token = in_page % kKvTile;
  std::byte* k_tile = page + head.k_offset + in_page / kKvTile * head.tile_bytes;
  std::byte* v_tile = page + head.v_offset + in_page / kKvTile * head.tile_bytes;
  const Int8Scale of_k = int8_scale(k, head_dim), of_v = int8_scale(v, head_dim);
  const size_t scale_at = size_t{kKvTile} * head.dim + token * sizeof(float);
  std::memcpy(k_tile + scale_at, &of_k.scale, sizeof(float));
  std::memcpy(v_tile + scale_at, &of_v.scale, sizeof(float));
  std::byte* to = v_tile + size_t{token / 2} * head.dim * 2 + token % 2;
  for (uint32_t d = 0; d < head.dim; ++d) {
    const bool real = d < head_dim;
    k_tile[size_t{d / 2} * kKvTile * 2 + token * 2 + d % 2] =
        static_cast<std::byte>(real ? of_k.code(k[d]) : 0);
    to[size_t{d} * 2] = static_cast<std::byte>(real ? of_v.code(v[d]) : 0);
  }
}
}  // namespace

size_t kv_page_bytes(const KvShape& s) {
  return size_t{s.layers} * s.kv_heads * 2 * (s.page_tokens / kKvTile) * kv_tile_bytes(s);
}

void kv_write(TaskPool& pool, const KvShape& s, uint32_t layer, std::span<const Slice> slices, const float* k,
              const float* v, size_t ld) {
  check_slices(s, layer, slices);
  for (const Slice& slice : slices) {
    const auto tile = [&](size_t task, int) {
      const auto h = static_cast<uint32_t>(task % s.kv_heads);
      const uint32_t first_tile = slice.position / kKvTile + static_cast<uint32_t>(task / s.kv_heads);
      const uint32_t begin = std::max(first_tile * kKvTile, slice.position);
      const uint32_t end = std::min((first_tile + 1) * kKvTile, slice.position + slice.rows);
      const KvHead head = kv_head(s, layer, h, slice.pages.data());
      for (uint32_t p = begin; p < end; ++p) {
        const size_t from = (slice.first_row + (p - slice.position)) * ld + size_t{h} * s.head_dim;
        if (s.type == KvType::kInt8) {
          write_token_int8(head, s.head_dim, p, k + from, v + from);
        } else {
          write_token(head, s.head_dim, p, k + from, v + from);
        }
      }
    };
    if (slice.rows == 0) continue;
    const uint32_t tiles = (slice.position + slice.rows - 1) / kKvTile - slice.position / kKvTile + 1;
    const size_t tasks = size_t{tiles} * s.kv_heads;
    if (size_t{slice.rows} * s.kv_heads * s.head_dim <= kSerialElements) {
      for (size_t task = 0; task < tasks; ++task) tile(task, 0);
    } else {
      pool.run(tasks, tile);
    }
  }
}

}  // namespace reprise::kernels::cpu
