// Timing on a machine whose cores flip between a quiet and a slow mode: every window of work lies between two
// runs of a known peak loop, and only windows whose loop reached 90 % of its best count. See docs/kernels.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/task_pool.h"
#include "probe/report.h"

namespace reprise {

struct Window {
  double seconds;  // of the work
  double quiet;    // rate of the slower of the two peak loops around it
};

struct Estimate {
  double median = 0, low = 0, high = 0;  // seconds, and the 95 % interval of the median by bootstrap
  double best = 0;                       // seconds of the fastest window
  double mean = 0;  // seconds, of all windows, quiet or not: what a plain stopwatch shows
  uint32_t windows = 0, kept = 0;
};

class WindowTimer {
 public:
  // The peak loop runs on all threads of the pool for about a millisecond. The pool must outlive the timer.
  explicit WindowTimer(TaskPool& pool);

  // Runs `work` as one window. At most 50 ms of work: the mode changes.
  Window time(const std::function<void()>& work);

  // The windows' median and interval. When fewer than kFewWindows are quiet, all count, but `kept`
  // tells.
  Estimate estimate(std::span<const Window> windows) const;
  // The sum of medians of consecutive parts of one job, each with its own windows.
  Estimate estimate_sum(std::span<const std::vector<Window>> parts) const;

  double best_rate() const { return best_; }  // operations a second of the peak loop, all threads

 private:
  double probe();
  std::vector<double> quiet_seconds(std::span<const Window> windows, uint32_t& kept) const;

  TaskPool& pool_;
  uint64_t (*loop_)(uint64_t rounds, double* sum);
  uint64_t rounds_ = 1;
  double best_ = 0, last_ = 0;
  Nanos last_end_ = 0;
};

// A row of `work / seconds` from an estimate, in `scale` units (1e9 for GB/s of bytes). Inconclusive when too
// few windows were quiet.
BenchRow rate_row(std::string name, double work, double scale, std::string unit, const Estimate& estimate);

}  // namespace reprise
