// Design: a matrix stays as the file has it; a task expands eight weight rows to fp32 and multiplies them
// with all input rows. Each output is dot(x, w) of dot.h, whatever else is computed, so rows are invariant.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "kernels/ref/dot.h"
#include "kernels/ref/ref.h"
#include "kernels/weight_format.h"

namespace reprise::kernels::ref {

namespace {
constexpr uint32_t kRowsPerTask = 8;

// dot() for four input rows at once: the same sums, with the weights loaded once.
void dot4(const float* const x[4], const float* w, uint32_t n, float out[4]) {
  float s[4][8] = {};
  uint32_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 8; ++i) s[r][i] += x[r][k + i] * w[k + i];
  for (int i = 0; k + i < n; ++i)
    for (int r = 0; r < 4; ++r) s[r][i] += x[r][k + i] * w[k + i];
  for (int r = 0; r < 4; ++r) out[r] = sum8(s[r]);
}
}  // namespace

Matrix pack(TaskPool& pool, const MatrixSource& source) {
  const size_t bytes = row_bytes(source.type, source.cols);
  const size_t rows = size_t{source.rows} * source.count;
  Matrix matrix{source.type, source.rows, source.cols, Buffer(bytes * rows), source.count};
  pool.run(rows, [&](size_t row, int) {
    const std::byte* from = source.matrix(row / source.rows, source.rows * bytes);
    std::memcpy(matrix.data.data() + row * bytes, from + row % source.rows * bytes, bytes);
  });
  return matrix;
}

void unpack_row(const Matrix& matrix, uint32_t row, float* out) {
  CHECK(row < size_t{matrix.rows} * matrix.count, "row {} of {}", row, size_t{matrix.rows} * matrix.count);
  dequantize_row(matrix.type, matrix.data.data() + row * row_bytes(matrix.type, matrix.cols), matrix.cols,
                 out);
}

void prepare(TaskPool&, const float* x, uint32_t rows, uint32_t cols, size_t ld, Input& input) {
  input.x = x;
  input.rows = rows;
  input.cols = cols;
  input.ld = ld;
}

void products(TaskPool& pool, const Input& input, std::span<const Product> products, Epilogue epilogue) {
  for (const Product& p : products) {
    const Matrix& w = *p.w;
    CHECK(w.cols == input.cols, "matrix has {} columns, input {}", w.cols, input.cols);
    CHECK(w.count == 1, "a stack of {} matrices is no product's", w.count);
    const size_t bytes = row_bytes(w.type, w.cols);
    pool.run((w.rows + kRowsPerTask - 1) / kRowsPerTask, [&](size_t task, int) {
      thread_local std::vector<float> row;  // grows to the widest matrix and stays
      row.resize(w.cols);
      const uint32_t begin = static_cast<uint32_t>(task) * kRowsPerTask;
      const auto store = [&](uint32_t r, uint32_t n, float value) {
        float& y = p.y[r * p.ldy + n];
        y = epilogue == Epilogue::kAdd ? y + value : value;
      };
      for (uint32_t n = begin; n < std::min(w.rows, begin + kRowsPerTask); ++n) {
        dequantize_row(w.type, w.data.data() + n * bytes, w.cols, row.data());
        uint32_t r = 0;
        for (; r + 4 <= input.rows; r += 4) {
          const float* x[4];
          for (uint32_t i = 0; i < 4; ++i) x[i] = input.x + (r + i) * input.ld;
          float out[4];
          dot4(x, row.data(), w.cols, out);
          for (uint32_t i = 0; i < 4; ++i) store(r + i, n, out[i]);
        }
        for (; r < input.rows; ++r) store(r, n, dot(input.x + r * input.ld, row.data(), w.cols));
      }
    });
  }
}

}  // namespace reprise::kernels::ref
