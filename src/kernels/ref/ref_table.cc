// Design: element-wise operations in their textbook form, one row after the other, and the table itself.
#include <cmath>

#include "kernels/ref/ref.h"

namespace reprise::kernels {

namespace {

void rms_norm(TaskPool&, const float* x, size_t ldx, const float* weight, float eps, uint32_t rows,
              uint32_t cols, float* out, size_t ldo) {
  for (uint32_t r = 0; r < rows; ++r, x += ldx, out += ldo) {
    double squares = 0;
    for (uint32_t i = 0; i < cols; ++i) squares += static_cast<double>(x[i]) * x[i];
    const auto factor = static_cast<float>(1.0 / std::sqrt(squares / cols + eps));
    for (uint32_t i = 0; i < cols; ++i) out[i] = x[i] * factor * weight[i];
  }
}

void rope(TaskPool&, float* x, size_t ld, uint32_t rows, uint32_t heads, uint32_t dim, uint32_t rotary,
          const float* cos, const float* sin, bool interleaved) {
  const uint32_t half = rotary / 2;
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t h = 0; h < heads; ++h) {
      float* head = x + r * ld + size_t{h} * dim;
      for (uint32_t i = 0; i < half; ++i) {
        float& a = head[interleaved ? 2 * i : i];
        float& b = head[interleaved ? 2 * i + 1 : i + half];
        const float c = cos[size_t{r} * half + i], s = sin[size_t{r} * half + i];
        const float rotated = a * c - b * s;
        b = a * s + b * c;
        a = rotated;
      }
    }
}

void swiglu(TaskPool& pool, float* gate, const float* up, size_t ld, uint32_t rows, uint32_t cols) {
  pool.run(rows, [&](size_t r, int) {
    float* g = gate + r * ld;
    const float* u = up + r * ld;
    for (uint32_t i = 0; i < cols; ++i) g[i] = g[i] / (1.0f + std::exp(-g[i])) * u[i];
  });
}

}  // namespace

const Table& ref_table() {
  static constexpr Table table{"ref", ref::pack, ref::unpack_row,    ref::prepare,  ref::products, rms_norm,
                               rope,  swiglu,    ref::kv_page_bytes, ref::kv_write, ref::attention};
  return table;
}

}  // namespace reprise::kernels
