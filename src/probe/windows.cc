// Design: the loop before a window is the loop after the one before it, when they follow each other at once.
// Bootstrap with a fixed seed: the same windows give the same interval.
#include "probe/windows.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/check.h"
#include "kernels/roof.h"

namespace reprise {

namespace {
constexpr double kQuietShare = 0.9;
constexpr int kResamples = 400;

uint64_t scalar_loop(uint64_t rounds, double*) {
  for (uint64_t i = 0; i < rounds * 1000; ++i) asm volatile("" ::: "memory");
  return rounds * 1000;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}
}  // namespace

WindowTimer::WindowTimer(TaskPool& pool) : pool_(pool) {
  const auto loops = kernels::roof_loops();
  loop_ = loops.empty() ? scalar_loop : loops.front().run;
  // One thread's millisecond.
  for (Nanos took = 0; took < kMillisecond / 2; rounds_ *= 2) {
    const Nanos start = now();
    double sum;
    loop_(rounds_, &sum);
    took = now() - start;
  }
  for (int i = 0; i < 8; ++i) probe();
}

double WindowTimer::probe() {
  const Nanos start = now();
  uint64_t operations = 0;
  std::vector<uint64_t> done(static_cast<size_t>(pool_.threads()));
  pool_.run(done.size(), [&](size_t task, int) {
    double sum;
    done[task] = loop_(rounds_, &sum);
  });
  for (const uint64_t n : done) operations += n;
  last_end_ = now();
  last_ = static_cast<double>(operations) / to_seconds(last_end_ - start);
  best_ = std::max(best_, last_);
  return last_;
}

Window WindowTimer::time(const std::function<void()>& work) {
  const double before = now() - last_end_ < 100 * kMicrosecond ? last_ : probe();
  const Nanos start = now();
  work();
  const Nanos end = now();
  return {to_seconds(end - start), std::min(before, probe())};
}

std::vector<double> WindowTimer::quiet_seconds(std::span<const Window> windows, uint32_t& kept) const {
  std::vector<double> seconds;
  for (const Window& w : windows)
    if (w.quiet >= kQuietShare * best_) seconds.push_back(w.seconds);
  kept = static_cast<uint32_t>(seconds.size());
  if (seconds.size() < std::min<size_t>(kFewWindows, windows.size())) {
    seconds.clear();
    for (const Window& w : windows) seconds.push_back(w.seconds);
  }
  return seconds;
}

Estimate WindowTimer::estimate(std::span<const Window> windows) const {
  const std::vector<Window> part(windows.begin(), windows.end());
  return estimate_sum({&part, 1});
}

Estimate WindowTimer::estimate_sum(std::span<const std::vector<Window>> parts) const {
  Estimate e;
  std::vector<std::vector<double>> seconds;
  for (const auto& part : parts) {
    CHECK(!part.empty(), "a part without windows");
    uint32_t kept = 0;
    seconds.push_back(quiet_seconds(part, kept));
    e.median += median(seconds.back());
    e.best += std::ranges::min(part, {}, &Window::seconds).seconds;
    double sum = 0;
    for (const Window& w : part) sum += w.seconds;
    e.mean += sum / static_cast<double>(part.size());
    // A sum is as good as its worst part: windows and kept are per part.
    if (e.windows == 0 || kept < e.kept) e.kept = kept;
    e.windows = std::max(e.windows, static_cast<uint32_t>(part.size()));
  }
  std::mt19937 random(1);
  std::vector<double> sums(kResamples, 0.0), sample;
  for (const auto& part : seconds)
    for (double& sum : sums) {
      sample.resize(part.size());
      for (double& x : sample) x = part[random() % part.size()];
      sum += median(sample);
    }
  std::sort(sums.begin(), sums.end());
  // With a handful of windows the resampled medians may all lie on one side of the median.
  e.low = std::min(e.median, sums[kResamples * 25 / 1000]);
  e.high = std::max(e.median, sums[kResamples * 975 / 1000 - 1]);
  return e;
}

BenchRow rate_row(std::string name, double work, double scale, std::string unit, const Estimate& e) {
  BenchRow row;
  row.name = std::move(name);
  row.value = work / e.median / scale;
  row.unit = std::move(unit);
  row.best = work / e.best / scale;
  row.plain = work / e.mean / scale;
  row.low = work / e.high / scale;
  row.high = work / e.low / scale;
  row.windows = e.windows;
  row.kept = e.kept;
  judge(row);
  return row;
}

}  // namespace reprise
