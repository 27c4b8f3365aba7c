// Design: the columns of all products form one list of panels; a task is a run of panels of one product times
// a block of rows. Few rows: tasks of about kTaskBytes of weights, so that both the stream and the claim are
// cheap. Many rows: panel pairs times kTaskRows rows. How the work is cut never changes a number
// (cpu/quant_tile.h).
#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/drivers.h"
#include "kernels/cpu/panels.h"

namespace reprise::kernels::cpu {

namespace {
constexpr size_t kTaskBytes = 24 << 10;
constexpr uint32_t kTaskRows = 96;
constexpr size_t kSerialElements = 8 << 10;  // below this a parallel loop costs more than it saves
constexpr size_t kMaxProducts = 8;

// The arrays of QuantRows one after another in Input::quantized.
struct QuantLayout {
  size_t groups, scale, scaled_sum, minus8, minus128, minus32, bytes;
  QuantLayout(size_t rows, size_t cols) : groups(cols / kGroup) {
    const size_t words = rows * groups * 4;
    scale = (rows * cols + 63) / 64 * 64;
    scaled_sum = scale + words;
    minus8 = scaled_sum + words;
    minus128 = minus8 + words;
    minus32 = minus128 + words;
    bytes = minus32 + 2 * words;
  }
};

template <typename T>
T* at(const Buffer& buffer, size_t offset, size_t index) {
  return reinterpret_cast<T*>(buffer.data() + offset) + index;
}

bool quantised(WeightType type) { return block_elements(type) > 1; }
}  // namespace

void prepare(const MicroKernels& isa, TaskPool& pool, const float* x, uint32_t rows, uint32_t cols, size_t ld,
             Input& input) {
  input.x = x;
  input.rows = rows;
  input.cols = cols;
  input.ld = ld;
  if (cols % kGroup != 0) return;  // only float matrices have such columns
  const QuantLayout layout(rows, cols);
  input.quantized.reserve(layout.bytes);
  const Buffer& b = input.quantized;
  const auto row = [&](size_t r, int) {
    const size_t g = r * layout.groups;
    isa.quantize_row(x + r * ld, cols, at<int8_t>(b, 0, r * cols), at<float>(b, layout.scale, g),
                     at<float>(b, layout.scaled_sum, g), at<int32_t>(b, layout.minus8, g),
                     at<int32_t>(b, layout.minus128, g), at<int32_t>(b, layout.minus32, 2 * g));
  };
  if (size_t{rows} * cols <= kSerialElements) {
    for (uint32_t r = 0; r < rows; ++r) row(r, 0);
  } else {
    pool.run(rows, row);
  }
}

void products(const MicroKernels& isa, TaskPool& pool, const Input& input, std::span<const Product> products,
              Epilogue epilogue) {
  CHECK(products.size() <= kMaxProducts, "{} products in one call", products.size());
  if (input.rows == 0) return;
  const QuantLayout layout(input.rows, input.cols);
  struct Plan {
    size_t first_task;  // of the product
    size_t panel_bytes;
    uint32_t panels, run;  // panels a task
  } plans[kMaxProducts];
  const uint32_t row_blocks = (input.rows + kTaskRows - 1) / kTaskRows;
  size_t tasks = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    const Matrix& w = *products[i].w;
    CHECK(w.cols == input.cols, "matrix has {} columns, input {}", w.cols, input.cols);
    const size_t bytes = panel_bytes(packing_of(w.type), w.cols);
    const uint32_t panels = (w.rows + kPanel - 1) / kPanel;
    // An even number of panels, at least two and enough for the byte target.
    const auto wanted = static_cast<uint32_t>(std::max<size_t>(2, kTaskBytes / bytes / 2 * 2));
    const uint32_t run = input.rows > kTaskRows / 4 ? 2 : wanted;
    plans[i] = {tasks, bytes, panels, run};
    tasks += size_t{(panels + run - 1) / run} * row_blocks;
  }
  pool.run(tasks, [&](size_t task, int) {
    size_t i = 0;
    while (i + 1 < products.size() && task >= plans[i + 1].first_task) ++i;
    const Product& p = products[i];
    const Plan& plan = plans[i];
    const size_t local = task - plan.first_task;
    // Neighbouring tasks share rows: weights stream once per row block, the rows stay in L1.
    const uint32_t runs = (plan.panels + plan.run - 1) / plan.run;
    const auto row = static_cast<uint32_t>(local / runs) * kTaskRows;
    const auto panel = static_cast<uint32_t>(local % runs) * plan.run;
    const uint32_t channel = panel * kPanel;
    GemmTask t{};
    t.panels = p.w->data.data() + panel * plan.panel_bytes;
    t.panel_bytes = plan.panel_bytes;
    t.cols = input.cols;
    t.channels = std::min(p.w->rows - channel, plan.run * kPanel);
    t.rows = std::min(input.rows - row, kTaskRows);
    if (quantised(p.w->type)) {
      const Buffer& b = input.quantized;
      const size_t g = row * layout.groups;
      t.quant = {at<int8_t>(b, 0, size_t{row} * input.cols), at<float>(b, layout.scale, g),
                 at<float>(b, layout.scaled_sum, g),         at<int32_t>(b, layout.minus8, g),
                 at<int32_t>(b, layout.minus128, g),         at<int32_t>(b, layout.minus32, 2 * g)};
    }
    t.x = input.x + row * input.ld;
    t.x_ld = input.ld;
    t.y = p.y + row * p.ldy + channel;
    t.y_ld = p.ldy;
    t.add = epilogue == Epilogue::kAdd;
    isa.gemm[static_cast<int>(packing_of(p.w->type))](t);
  });
}

}  // namespace reprise::kernels::cpu
