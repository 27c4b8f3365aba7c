#include "kernels/experts.h"

#include <algorithm>

#include "base/check.h"

namespace reprise::kernels {

void check_experts(const ExpertsArgs& a) {
  const Experts& w = *a.experts;
  CHECK(w.up.rows == w.gate.rows && w.up.cols == w.gate.cols && w.down.rows == w.gate.cols &&
            w.down.cols == w.gate.rows,
        "experts of {} x {}, {} x {} and {} x {}", w.gate.rows, w.gate.cols, w.up.rows, w.up.cols,
        w.down.rows, w.down.cols);
  CHECK(w.up.count == w.gate.count && w.down.count == w.gate.count, "{}, {} and {} experts", w.gate.count,
        w.up.count, w.down.count);
  const auto fits = [](const std::vector<float>& bias, const Matrix& of) {
    return bias.empty() || bias.size() == size_t{of.rows} * of.count;
  };
  CHECK(fits(w.gate_bias, w.gate) && fits(w.up_bias, w.up) && fits(w.down_bias, w.down), "biases do not fit");
  CHECK(a.used > 0 && a.used <= w.gate.count, "{} of {} experts", a.used, w.gate.count);
  for (size_t i = 0; i < size_t{a.rows} * a.used; ++i)
    CHECK(a.chosen[i] < w.gate.count, "expert {} of {}", a.chosen[i], w.gate.count);
}

}  // namespace reprise::kernels
