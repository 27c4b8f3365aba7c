// Design: the rows that chose an expert are gathered side by side into a segment of slots, in ascending
// order, so that all kernels of a dense matrix multiply serve, for any format and instruction set. Three
// parallel loops:
//   1. gather: the slots' inputs as integers (and as fp32 where a matrix is of floats);
//   2. gate and up: a task is a run of panels of both, times up to 96 slots of one expert. Its results never
//      leave the core's cache: they are joined at once, and made integers for the down matrix at once, since
//      a pair of panels is one activation group;
//   3. down: runs of panels times slots, into one fp32 row a slot.
// Then each row adds up the results of its own slots in the order of its choices. Where a row lies in a
// segment, and with whom, changes no number (cpu/quant_tile.h): rows are invariant.
#include "kernels/experts.h"

#include <algorithm>
#include <memory>
#include <span>

#include "kernels/cpu/drivers.h"
#include "kernels/cpu/panels.h"

namespace reprise::kernels::cpu {

namespace {
constexpr uint32_t kTaskRows = 96;
constexpr uint32_t kFewRows = kTaskRows / 4;  // up to here a task is wide in channels
constexpr size_t kTaskBytes = 32 << 10;       // of weights, for few rows
constexpr uint32_t kMostPanels = 8;           // a task
constexpr size_t kSerialElements = 16 << 10;  // below this a parallel loop costs more than it saves

static_assert(kTaskRows % kActRows == 0 && 2 * kPanel == kGroup);

// One expert's rows.
struct Segment {
  uint32_t expert;
  uint32_t slot;  // of the first row: a multiple of kActRows
  uint32_t rows;
  uint32_t run[2];       // panels a task, of gate and up and of down
  size_t first_task[2];  // of this segment in each of the two loops
};

// The stack's kernel and where an expert's panels are.
struct Stack {
  const Matrix& matrix;
  size_t panel_bytes;
  uint32_t panels;  // a matrix

  explicit Stack(const Matrix& m)
      : matrix(m), panel_bytes(cpu::panel_bytes(m.type, m.cols)), panels((m.rows + kPanel - 1) / kPanel) {}
  bool integers() const { return block_elements(matrix.type) > 1; }
  const std::byte* at(uint32_t expert, uint32_t panel) const {
    return matrix.data.data() + (size_t{expert} * panels + panel) * panel_bytes;
  }
  // Panels a task: an even number.
  uint32_t run(uint32_t rows) const {
    const auto wanted = static_cast<uint32_t>(kTaskBytes / panel_bytes / 2 * 2);
    return rows > kFewRows ? 2 : std::clamp(wanted, 2u, kMostPanels);
  }
  size_t tasks(uint32_t run, uint32_t rows) const {
    return size_t{(panels + run - 1) / run} * ((rows + kTaskRows - 1) / kTaskRows);
  }
};

// Rows of one width, one a slot, as the kernels read them.
struct Rows {
  uint32_t cols = 0;
  ActivationGroup* integers = nullptr;  // [slot / kActRows][cols / kGroup]
  float* floats = nullptr;              // [slot][cols]; null: not wanted

  ActivationGroup* group(uint32_t slot, uint32_t k) const {
    return integers + size_t{slot / kActRows} * (cols / kGroup) + k / kGroup;
  }
};

class Call {
 public:
  Call(const MicroKernels& isa, const ExpertsArgs& a)
      : isa_(isa),
        a_(a),
        w_(*a.experts),
        gate_(w_.gate),
        up_(w_.up),
        down_(w_.down),
        cols_(w_.gate.cols),
        inner_(w_.gate.rows) {}

  void run(TaskPool& pool) {
    threads_ = static_cast<size_t>(pool.threads());
    lay_out(pool.threads());
    assign();
    const auto gather = [&](size_t tile, int) { gather_tile(static_cast<uint32_t>(tile)); };
    const uint32_t tiles = slots_ / kActRows;
    if (size_t{a_.rows} * a_.used * cols_ <= kSerialElements) {
      for (uint32_t tile = 0; tile < tiles; ++tile) gather(tile, 0);
    } else {
      pool.run(tiles, gather);
    }
    pool.run(tasks_[0], [&](size_t task, int worker) { gate_up(task, worker); });
    pool.run(tasks_[1], [&](size_t task, int) { down(task); });
    const auto add = [&](size_t row, int) { add_row(row); };
    if (size_t{a_.rows} * a_.used * cols_ <= kSerialElements) {
      for (uint32_t row = 0; row < a_.rows; ++row) add(row, 0);
    } else {
      pool.run(a_.rows, add);
    }
  }

 private:
  void lay_out(int threads) {
    const size_t choices = size_t{a_.rows} * a_.used, experts = w_.gate.count;
    const size_t most_slots = choices + std::min(choices, experts) * (kActRows - 1);
    const size_t tiles = most_slots / kActRows + 1;
    ld_ = cols_ + kPanel;  // rows 4 KiB apart would meet in the same sets of a cache
    const auto in = [](const Stack& s) { return s.integers(); };
    const bool x_integers = in(gate_) || in(up_), x_floats = !in(gate_) || !in(up_);
    size_t bytes = 0;
    // Twice: first to learn the size, then to place.
    for (int pass = 0; pass < 2; ++pass) {
      if (pass == 1) a_.scratch->reserve(bytes);
      std::byte* base = pass == 1 ? a_.scratch->data() : nullptr;
      bytes = 0;
      const auto place = [&]<typename T>(T*& to, size_t count) {
        to = reinterpret_cast<T*>(base + bytes);
        bytes += (count * sizeof(T) + 63) / 64 * 64;
      };
      place(segments_, std::min(choices, experts));
      place(counts_, experts);
      place(slot_of_, choices);
      place(row_of_, tiles * kActRows);
      place(local_, static_cast<size_t>(threads) * kLocal);
      input_ = {cols_, nullptr, nullptr};
      joined_ = {inner_, nullptr, nullptr};
      if (x_integers) place(input_.integers, tiles * (cols_ / kGroup));
      if (x_floats) place(input_.floats, tiles * kActRows * cols_);
      if (in(down_)) {
        place(joined_.integers, tiles * (inner_ / kGroup));
      } else {
        place(joined_.floats, tiles * kActRows * inner_);
      }
      place(results_, tiles * kActRows * ld_);
    }
  }

  // Segments in ascending experts, rows ascending in each: a counting sort.
  void assign() {
    const size_t choices = size_t{a_.rows} * a_.used;
    std::fill_n(counts_, w_.gate.count, 0u);
    for (size_t i = 0; i < choices; ++i) ++counts_[a_.chosen[i]];
    for (uint32_t e = 0; e < w_.gate.count; ++e) {
      const uint32_t rows = counts_[e];
      counts_[e] = slots_;  // from here on the next free slot of the expert
      if (rows == 0) continue;
      Segment& s = segments_[segment_count_++];
      s = {e, slots_, rows, {gate_.run(rows), down_.run(rows)}, {tasks_[0], tasks_[1]}};
      tasks_[0] += gate_.tasks(s.run[0], rows);
      tasks_[1] += down_.tasks(s.run[1], rows);
      const uint32_t end = (slots_ + rows + kActRows - 1) / kActRows * kActRows;
      std::fill(row_of_ + slots_ + rows, row_of_ + end, kNobody);
      slots_ = end;
    }
    for (size_t i = 0; i < choices; ++i) {
      slot_of_[i] = counts_[a_.chosen[i]]++;
      row_of_[slot_of_[i]] = static_cast<uint32_t>(i / a_.used);
    }
  }

  void gather_tile(uint32_t tile) {
    for (uint32_t slot = tile * kActRows; slot < (tile + 1) * kActRows; ++slot)
      if (row_of_[slot] != kNobody) put(input_, slot, 0, a_.x + row_of_[slot] * a_.ldx, cols_);
  }

  // Columns [k, k + count) of a slot; k begins a group.
  void put(const Rows& rows, uint32_t slot, uint32_t k, const float* from, uint32_t count) const {
    if (rows.integers) isa_.quantize_row(from, count, rows.group(slot, k), slot % kActRows);
    if (rows.floats) std::copy_n(from, count, rows.floats + size_t{slot} * rows.cols + k);
  }

  // Which panels and slots a task of loop 0 (gate, up) or 1 (down) is about.
  struct Place {
    uint32_t expert, panel, channels, slot, rows;
  };
  Place place(int loop, const Stack& stack, size_t task) const {
    const auto after = [loop](size_t t, const Segment& s) { return t < s.first_task[loop]; };
    const Segment& s = *(std::upper_bound(segments_, segments_ + segment_count_, task, after) - 1);
    const size_t local = task - s.first_task[loop], runs = stack.tasks(s.run[loop], 1);
    // Neighbouring tasks share slots: they stay in a near cache while the weights stream by.
    const auto row = static_cast<uint32_t>(local / runs) * kTaskRows;
    const auto panel = static_cast<uint32_t>(local % runs) * s.run[loop];
    const uint32_t channels = std::min(stack.matrix.rows - panel * kPanel, s.run[loop] * kPanel);
    return {s.expert, panel, channels, s.slot + row, std::min(s.rows - row, kTaskRows)};
  }

  // Where the task begins that is likely this thread's next (threads claim tasks in turn); null after the
  // last.
  const std::byte* later(int loop, const Stack& stack, size_t task) const {
    if (task + threads_ >= tasks_[loop]) return nullptr;
    const Place at = place(loop, stack, task + threads_);
    return stack.at(at.expert, at.panel);
  }

  // y[r][n] for the place's rows and channels, with the expert's bias.
  // `next`: as GemmTask's.
  void multiply(const Stack& stack, const Place& at, const std::vector<float>& bias, const Rows& rows,
                const std::byte* next, float* y, size_t y_ld) const {
    if (!bias.empty()) {
      const float* from = bias.data() + size_t{at.expert} * stack.matrix.rows + at.panel * kPanel;
      for (uint32_t r = 0; r < at.rows; ++r) std::copy_n(from, at.channels, y + r * y_ld);
    }
    GemmTask t{};
    t.panels = stack.at(at.expert, at.panel);
    t.next = next;
    t.panel_bytes = stack.panel_bytes;
    t.cols = rows.cols;
    t.channels = at.channels;
    t.rows = at.rows;
    if (rows.integers) t.quant = rows.group(at.slot, 0);
    if (rows.floats) t.x = rows.floats + size_t{at.slot} * rows.cols;
    t.x_ld = rows.cols;
    t.y = y;
    t.y_ld = y_ld;
    t.add = !bias.empty();
    isa_.gemm->of[static_cast<int>(stack.matrix.type)](t);
  }

  void gate_up(size_t task, int worker) const {
    const Place at = place(0, gate_, task);
    float* gate = local_ + static_cast<size_t>(worker) * kLocal;
    float* up = gate + kLocal / 2;
    const size_t ld = (at.channels + kPanel - 1) / kPanel * kPanel;
    const bool alike = gate_.matrix.type == up_.matrix.type;
    multiply(gate_, at, w_.gate_bias, input_, alike ? up_.at(at.expert, at.panel) : nullptr, gate, ld);
    multiply(up_, at, w_.up_bias, input_, alike ? later(0, gate_, task) : nullptr, up, ld);
    const auto join = gate_kernel(isa_, w_.gating);
    for (uint32_t r = 0; r < at.rows; ++r) {
      join(gate + r * ld, up + r * ld, at.channels);
      put(joined_, at.slot + r, at.panel * kPanel, gate + r * ld, at.channels);
    }
  }

  void down(size_t task) const {
    const Place at = place(1, down_, task);
    multiply(down_, at, w_.down_bias, joined_, later(1, down_, task),
             results_ + size_t{at.slot} * ld_ + at.panel * kPanel, ld_);
  }

  void add_row(size_t row) const {
    const uint32_t* slots = slot_of_ + row * a_.used;
    const float* weights = a_.weights + row * a_.used;
    constexpr uint32_t kParts = 16;
    const float* parts[kParts];
    for (uint32_t first = 0; first < a_.used; first += kParts) {
      const uint32_t count = std::min(kParts, a_.used - first);
      for (uint32_t i = 0; i < count; ++i) parts[i] = results_ + size_t{slots[first + i]} * ld_;
      isa_.add_weighted(a_.y + row * a_.ldy, parts, weights + first, count, cols_);
    }
  }

  static constexpr uint32_t kNobody = ~0u;
  // Floats of gate and up results of one task.
  static constexpr size_t kLocal = 2 * std::max(kTaskRows * 2, kFewRows* kMostPanels) * kPanel;

  const MicroKernels& isa_;
  const ExpertsArgs& a_;
  const Experts& w_;
  const Stack gate_, up_, down_;
  const uint32_t cols_, inner_;
  size_t ld_ = 0;  // of results_

  // In the scratch memory.
  Segment* segments_ = nullptr;
  uint32_t* counts_ = nullptr;   // [expert]
  uint32_t* slot_of_ = nullptr;  // [row][choice]
  uint32_t* row_of_ = nullptr;   // [slot], kNobody in the gaps between segments
  float* local_ = nullptr;       // [worker][kLocal]
  Rows input_, joined_;
  float* results_ = nullptr;  // [slot][ld_]

  uint32_t segment_count_ = 0, slots_ = 0;
  size_t tasks_[2] = {}, threads_ = 1;
};

}  // namespace

void experts(const MicroKernels& isa, TaskPool& pool, const ExpertsArgs& a) {
  check_experts(a);
  if (a.rows == 0) return;
  Call(isa, a).run(pool);
}

}  // namespace reprise::kernels::cpu
