// Design: one task an expert computes all rows that chose it: every weight row is expanded once and
// multiplied with each of them by dot(). Results wait per (row, choice), so that a row's sum has the order of
// its choices.
#include "kernels/experts.h"

#include <vector>

#include "kernels/ref/dot.h"
#include "kernels/ref/ref.h"

namespace reprise::kernels::ref {

namespace {
// out[i] = row n of matrix e of the stack, times x[i], plus its bias.
void multiply(const Matrix& stack, uint32_t e, uint32_t n, const std::vector<float>& bias,
              std::vector<float>& row, const std::vector<const float*>& x, float* out) {
  row.resize(stack.cols);
  unpack_row(stack, e * stack.rows + n, row.data());
  for (size_t i = 0; i < x.size(); ++i)
    out[i] = dot(x[i], row.data(), stack.cols) + (bias.empty() ? 0 : bias[size_t{e} * stack.rows + n]);
}
}  // namespace

void experts(TaskPool& pool, const ExpertsArgs& a) {
  check_experts(a);
  const Experts& w = *a.experts;
  const uint32_t cols = w.gate.cols, inner = w.gate.rows;
  a.scratch->reserve(size_t{a.rows} * a.used * cols * sizeof(float));
  float* parts = a.scratch->as<float>();  // [row][choice][cols]
  pool.run(w.gate.count, [&](size_t task, int) {
    const auto e = static_cast<uint32_t>(task);
    std::vector<size_t> choices;
    std::vector<const float*> x;
    for (uint32_t r = 0; r < a.rows; ++r)
      for (uint32_t i = 0; i < a.used; ++i)
        if (a.chosen[size_t{r} * a.used + i] == e) {
          choices.push_back(size_t{r} * a.used + i);
          x.push_back(a.x + r * a.ldx);
        }
    if (choices.empty()) return;
    std::vector<float> row, joined(choices.size() * inner), gate(choices.size()), up(choices.size());
    for (uint32_t n = 0; n < inner; ++n) {
      multiply(w.gate, e, n, w.gate_bias, row, x, gate.data());
      multiply(w.up, e, n, w.up_bias, row, x, up.data());
      for (size_t i = 0; i < choices.size(); ++i) joined[i * inner + n] = gated(w.gating, gate[i], up[i]);
    }
    for (size_t i = 0; i < choices.size(); ++i) x[i] = &joined[i * inner];
    for (uint32_t n = 0; n < cols; ++n) {
      multiply(w.down, e, n, w.down_bias, row, x, gate.data());
      for (size_t i = 0; i < choices.size(); ++i) parts[choices[i] * cols + n] = gate[i];
    }
  });
  for (uint32_t r = 0; r < a.rows; ++r)
    for (uint32_t n = 0; n < cols; ++n) {
      float sum = 0;
      for (uint32_t i = 0; i < a.used; ++i) {
        const size_t choice = size_t{r} * a.used + i;
        sum += a.weights[choice] * parts[choice * cols + n];
      }
      a.y[r * a.ldy + n] += sum;
    }
}

}  // namespace reprise::kernels::ref
