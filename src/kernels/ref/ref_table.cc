// Design: element-wise operations in their textbook form, one row after the other, and the table itself.
#include <algorithm>
#include <cmath>

#include "kernels/ref/ref.h"

namespace reprise::kernels {

float ref::gated(Gating gating, float g, float u) {
  switch (gating) {
    case Gating::kSilu:
      return g / (1.0f + std::exp(-g)) * u;
    case Gating::kGelu:
      return 0.5f * g * (1.0f + std::tanh(0.7978845608f * (g + 0.044715f * g * g * g))) * u;
    case Gating::kClampedSilu:
      g = std::min(g, 7.0f);
      u = std::clamp(u, -7.0f, 7.0f);
      return g / (1.0f + std::exp(-1.702f * g)) * (u + 1.0f);
  }
  return 0;
}

namespace {

void rms_norm(TaskPool&, const float* x, size_t ldx, const float* weight, float eps, uint32_t rows,
              uint32_t cols, float* out, size_t ldo, Epilogue epilogue) {
  for (uint32_t r = 0; r < rows; ++r, x += ldx, out += ldo) {
    double squares = 0;
    for (uint32_t i = 0; i < cols; ++i) squares += static_cast<double>(x[i]) * x[i];
    const auto factor = static_cast<float>(1.0 / std::sqrt(squares / cols + eps));
    for (uint32_t i = 0; i < cols; ++i) {
      const float normed = x[i] * factor * weight[i];
      out[i] = epilogue == Epilogue::kAdd ? out[i] + normed : normed;
    }
  }
}

void head_norm(TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads, uint32_t dim,
               const float* weight, float eps) {
  for (uint32_t r = 0; r < rows; ++r) {
    float* row = x + r * ld;
    rms_norm(pool, row, dim, weight, eps, heads, dim, row, dim, Epilogue::kStore);
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

void glu(TaskPool& pool, Gating gating, float* gate, const float* up, size_t ld, uint32_t rows,
         uint32_t cols) {
  pool.run(rows, [&](size_t r, int) {
    float* g = gate + r * ld;
    const float* u = up + r * ld;
    for (uint32_t i = 0; i < cols; ++i) g[i] = ref::gated(gating, g[i], u[i]);
  });
}

}  // namespace

const Table& ref_table() {
  static constexpr Table table{
      "ref",     0.1,  false, ref::pack,    ref::unpack_row,    ref::prepare,  ref::products, rms_norm,
      head_norm, rope, glu,   ref::experts, ref::kv_page_bytes, ref::kv_write, ref::attention};
  return table;
}

}  // namespace reprise::kernels
