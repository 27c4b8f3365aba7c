// Design: rows are independent; a loop over few elements stays on the calling thread, where it is faster.
#include <algorithm>

#include "kernels/cpu/drivers.h"

namespace reprise::kernels::cpu {

namespace {
constexpr size_t kSerialElements = 16 << 10;
constexpr size_t kTaskElements = 8 << 10;

template <typename F>
void for_rows(TaskPool& pool, uint32_t rows, size_t elements_per_row, F&& f) {
  if (rows * elements_per_row <= kSerialElements) {
    for (uint32_t r = 0; r < rows; ++r) f(r, 0);
  } else {
    const size_t grain = std::max<size_t>(1, kTaskElements / elements_per_row);
    pool.run((rows + grain - 1) / grain, [&](size_t task, int) {
      for (size_t r = task * grain; r < std::min<size_t>(rows, (task + 1) * grain); ++r) f(r, 0);
    });
  }
}
}  // namespace

void rms_norm(const MicroKernels& isa, TaskPool& pool, const float* x, size_t ldx, const float* weight,
              float eps, uint32_t rows, uint32_t cols, float* out, size_t ldo, Epilogue epilogue) {
  for_rows(pool, rows, cols, [&](size_t r, int) {
    isa.rms_norm(x + r * ldx, weight, eps, cols, out + r * ldo, epilogue == Epilogue::kAdd);
  });
}

void head_norm(const MicroKernels& isa, TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads,
               uint32_t dim, const float* weight, float eps) {
  for_rows(pool, rows, size_t{heads} * dim, [&](size_t r, int) {
    for (uint32_t h = 0; h < heads; ++h) {
      float* head = x + r * ld + size_t{h} * dim;
      isa.rms_norm(head, weight, eps, dim, head, /*add=*/false);
    }
  });
}

void rope(const MicroKernels& isa, TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads,
          uint32_t dim, uint32_t rotary, const float* cos, const float* sin, bool interleaved) {
  const uint32_t half = rotary / 2;
  for_rows(pool, rows, size_t{heads} * rotary, [&](size_t r, int) {
    const float *c = cos + r * half, *s = sin + r * half;
    for (uint32_t h = 0; h < heads; ++h) {
      float* head = x + r * ld + size_t{h} * dim;
      (interleaved ? isa.rope_interleaved : isa.rope)(head, half, c, s);
    }
  });
}

auto gate_kernel(const MicroKernels& isa, Gating gating) -> void (*)(float*, const float*, uint32_t) {
  return gating == Gating::kSilu   ? isa.silu_gate
         : gating == Gating::kGelu ? isa.gelu_gate
                                   : isa.clamped_silu_gate;
}

void glu(const MicroKernels& isa, TaskPool& pool, Gating gating, float* gate, const float* up, size_t ld,
         uint32_t rows, uint32_t cols) {
  const auto combine = gate_kernel(isa, gating);
  for_rows(pool, rows, cols, [&](size_t r, int) { combine(gate + r * ld, up + r * ld, cols); });
}

}  // namespace reprise::kernels::cpu
