// The operations of a kernel table in terms of any instruction set's micro-kernels: they check shapes, cut
// the work into tasks for the pool and lay out scratch. Contracts as in kernels/table.h.
#pragma once

#include "kernels/cpu/micro.h"
#include "kernels/table.h"

namespace reprise::kernels::cpu {

Matrix pack(TaskPool& pool, const MatrixSource& source);
void unpack_row(const Matrix& matrix, uint32_t row, float* out);

void prepare(const MicroKernels& isa, TaskPool& pool, const float* x, uint32_t rows, uint32_t cols, size_t ld,
             Input& input);
void products(const MicroKernels& isa, TaskPool& pool, const Input& input, std::span<const Product> products,
              Epilogue epilogue);

void rms_norm(const MicroKernels& isa, TaskPool& pool, const float* x, size_t ldx, const float* weight,
              float eps, uint32_t rows, uint32_t cols, float* out, size_t ldo, Epilogue epilogue);
void head_norm(const MicroKernels& isa, TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads,
               uint32_t dim, const float* weight, float eps);
void rope(const MicroKernels& isa, TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads,
          uint32_t dim, uint32_t rotary, const float* cos, const float* sin, bool interleaved);
auto gate_kernel(const MicroKernels& isa, Gating gating)
    -> void (*)(float* gate, const float* up, uint32_t cols);
void glu(const MicroKernels& isa, TaskPool& pool, Gating gating, float* gate, const float* up, size_t ld,
         uint32_t rows, uint32_t cols);
void experts(const MicroKernels& isa, TaskPool& pool, const ExpertsArgs& args);

size_t kv_page_bytes(const KvShape& shape);
void kv_write(TaskPool& pool, const KvShape& shape, uint32_t layer, std::span<const Slice> slices,
              const float* k, const float* v, size_t ld);
void attention(const MicroKernels& isa, TaskPool& pool, const AttentionArgs& args);

}  // namespace reprise::kernels::cpu
