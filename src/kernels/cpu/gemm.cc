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
constexpr size_t kTaskBytes = 32 << 10;
constexpr uint32_t kTaskRows = 96;
constexpr size_t kSerialElements = 8 << 10;  // below this a parallel loop costs more than it saves
constexpr size_t kMaxProducts = 8;

static_assert(kTaskRows % kActRows == 0);
}  // namespace

void prepare(const MicroKernels& isa, TaskPool& pool, const float* x, uint32_t rows, uint32_t cols, size_t ld,
             Input& input) {
  input.x = x;
  input.rows = rows;
  input.cols = cols;
  input.ld = ld;
  if (cols % kGroup != 0) return;  // only float matrices have such columns
  const size_t groups = cols / kGroup, tiles = (rows + kActRows - 1) / kActRows;
  input.quantized.reserve(tiles * groups * sizeof(ActivationGroup));
  auto* to = input.quantized.as<ActivationGroup>();
  const auto tile = [&](size_t i, int) {
    const auto first = static_cast<uint32_t>(i) * kActRows;
    for (uint32_t r = 0; r < std::min(kActRows, rows - first); ++r)
      isa.quantize_row(x + (first + r) * ld, cols, to + i * groups, r);
  };
  if (size_t{rows} * cols <= kSerialElements) {
    for (size_t i = 0; i < tiles; ++i) tile(i, 0);
  } else {
    pool.run(tiles, tile);
  }
}

void products(const MicroKernels& isa, TaskPool& pool, const Input& input, std::span<const Product> products,
              Epilogue epilogue) {
  CHECK(products.size() <= kMaxProducts, "{} products in one call", products.size());
  if (input.rows == 0) return;
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
    CHECK(w.count == 1, "a stack of {} matrices is no product's", w.count);
    const size_t bytes = panel_bytes(w.type, w.cols);
    const uint32_t panels = (w.rows + kPanel - 1) / kPanel;
    // An even number of panels, at least two and enough for the byte target.
    const auto wanted = static_cast<uint32_t>(std::max<size_t>(2, kTaskBytes / bytes / 2 * 2));
    const uint32_t run = input.rows > kTaskRows / 4 ? 2 : wanted;
    plans[i] = {tasks, bytes, panels, run};
    tasks += size_t{(panels + run - 1) / run} * row_blocks;
  }
  struct Place {
    size_t product;
    uint32_t row, panel;
  };
  const auto place = [&](size_t task) -> Place {
    size_t i = 0;
    while (i + 1 < products.size() && task >= plans[i + 1].first_task) ++i;
    const Plan& plan = plans[i];
    const size_t local = task - plan.first_task;
    // Neighbouring tasks share rows: weights stream once per row block, the rows stay in L1.
    const uint32_t runs = (plan.panels + plan.run - 1) / plan.run;
    return {i, static_cast<uint32_t>(local / runs) * kTaskRows,
            static_cast<uint32_t>(local % runs) * plan.run};
  };
  const auto panels_at = [&](const Place& at) {
    return products[at.product].w->data.data() + at.panel * plans[at.product].panel_bytes;
  };
  const auto threads = static_cast<size_t>(pool.threads());
  pool.run(tasks, [&](size_t task, int) {
    const Place at = place(task);
    const Product& p = products[at.product];
    const Plan& plan = plans[at.product];
    const uint32_t row = at.row, channel = at.panel * kPanel;
    GemmTask t{};
    t.panels = panels_at(at);
    // Threads claim tasks in turn: about this one will be this thread's next.
    if (task + threads < tasks)
      if (const Place later = place(task + threads); products[later.product].w->type == p.w->type)
        t.next = panels_at(later);
    t.panel_bytes = plan.panel_bytes;
    t.cols = input.cols;
    t.channels = std::min(p.w->rows - channel, plan.run * kPanel);
    t.rows = std::min(input.rows - row, kTaskRows);
    // Rows start at a multiple of kTaskRows, hence of kActRows.
    if (input.cols % kGroup == 0)
      t.quant = input.quantized.as<ActivationGroup>() + size_t{row / kActRows} * (input.cols / kGroup);
    t.x = input.x + row * input.ld;
    t.x_ld = input.ld;
    t.y = p.y + row * p.ldy + channel;
    t.y_ld = p.ldy;
    t.add = epilogue == Epilogue::kAdd;
    isa.gemm->of[static_cast<int>(p.w->type)](t);
  });
}

}  // namespace reprise::kernels::cpu
