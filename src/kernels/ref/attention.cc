// Design: fp32 KV (rounded to int8 and back when that is the type) as [layer][kv head][k or
// v][token][head_dim] in each page; per (row, head) all scores, their maximum, exp, the weighted sum of V in
// ascending order, then one division. No splits: the oracle has a single order.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "kernels/kv_int8.h"
#include "kernels/ref/dot.h"
#include "kernels/ref/ref.h"
#include "kernels/slices.h"

namespace reprise::kernels::ref {

namespace {
size_t head_floats(const KvShape& s) { return size_t{2} * s.page_tokens * s.head_dim; }

// K of the position's token; V lies page_tokens * head_dim floats further.
float* k_at(const KvShape& s, const Slice& slice, uint32_t layer, uint32_t kv_head, uint32_t position) {
  auto* page = reinterpret_cast<float*>(slice.pages[position / s.page_tokens]);
  return page + (size_t{layer} * s.kv_heads + kv_head) * head_floats(s) +
         size_t{position % s.page_tokens} * s.head_dim;
}

void keep(const KvShape& s, const float* x, float* to) {
  if (s.type == KvType::kBF16) {
    std::memcpy(to, x, s.head_dim * sizeof(float));
    return;
  }
  const Int8Scale scale = int8_scale(x, s.head_dim);
  for (uint32_t d = 0; d < s.head_dim; ++d) to[d] = scale.scale * static_cast<float>(scale.code(x[d]));
}
}  // namespace

size_t kv_page_bytes(const KvShape& s) {
  return size_t{s.layers} * s.kv_heads * head_floats(s) * sizeof(float);
}

void kv_write(TaskPool&, const KvShape& s, uint32_t layer, std::span<const Slice> slices, const float* k,
              const float* v, size_t ld) {
  check_slices(s, layer, slices);
  for (const Slice& slice : slices)
    for (uint32_t i = 0; i < slice.rows; ++i)
      for (uint32_t h = 0; h < s.kv_heads; ++h) {
        float* to = k_at(s, slice, layer, h, slice.position + i);
        const size_t from = (slice.first_row + i) * ld + size_t{h} * s.head_dim;
        keep(s, k + from, to);
        keep(s, v + from, to + size_t{s.page_tokens} * s.head_dim);
      }
}

void attention(TaskPool& pool, const AttentionArgs& a) {
  const KvShape& s = *a.shape;
  CHECK(s.kv_heads > 0 && a.heads % s.kv_heads == 0, "{} heads over {} kv heads", a.heads, s.kv_heads);
  check_slices(s, a.layer, a.slices);
  const uint32_t group = a.heads / s.kv_heads, dim = s.head_dim;
  for (const Slice& slice : a.slices)
    pool.run(size_t{slice.rows} * a.heads, [&](size_t task, int) {
      const auto i = static_cast<uint32_t>(task / a.heads), h = static_cast<uint32_t>(task % a.heads);
      const uint32_t row = slice.first_row + i, end = slice.position + i + 1;
      const uint32_t begin = first_key(slice.position + i, a.window);
      const float* q = a.q + row * a.q_ld + size_t{h} * dim;
      float* out = a.out + row * a.out_ld + size_t{h} * dim;
      thread_local std::vector<float> p;  // grows to the longest context and stays
      p.resize(end - begin);
      float top = -std::numeric_limits<float>::infinity();
      for (uint32_t t = begin; t < end; ++t) {
        p[t - begin] = dot(q, k_at(s, slice, a.layer, h / group, t), dim) * a.scale;
        top = std::max(top, p[t - begin]);
      }
      float sum = 0;
      if (a.sinks) {
        top = std::max(top, a.sinks[h]);
        sum = std::exp(a.sinks[h] - top);
      }
      std::memset(out, 0, dim * sizeof(float));
      for (uint32_t t = begin; t < end; ++t) {
        const float e = std::exp(p[t - begin] - top);
        const float* v = k_at(s, slice, a.layer, h / group, t) + size_t{s.page_tokens} * dim;
        sum += e;
        for (uint32_t d = 0; d < dim; ++d) out[d] += e * v[d];
      }
      for (uint32_t d = 0; d < dim; ++d) out[d] /= sum;
    });
}

}  // namespace reprise::kernels::ref
