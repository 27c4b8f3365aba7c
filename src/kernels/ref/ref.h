// The reference table's parts: plain fp32 loops, the oracle that fast tables are measured against.
#pragma once

#include "kernels/table.h"

namespace reprise::kernels::ref {

Matrix pack(TaskPool& pool, const MatrixSource& source);
void unpack_row(const Matrix& matrix, uint32_t row, float* out);
void prepare(TaskPool& pool, const float* x, uint32_t rows, uint32_t cols, size_t ld, Input& input);
void products(TaskPool& pool, const Input& input, std::span<const Product> products, Epilogue epilogue);
float gated(Gating gating, float g, float u);  // one element of glu()
void experts(TaskPool& pool, const ExpertsArgs& args);

size_t kv_page_bytes(const KvShape& shape);
void kv_write(TaskPool& pool, const KvShape& shape, uint32_t layer, std::span<const Slice> slices,
              const float* k, const float* v, size_t ld);
void attention(TaskPool& pool, const AttentionArgs& args);

}  // namespace reprise::kernels::ref
