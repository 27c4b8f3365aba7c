#include "probe/peaks.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace reprise {

using kernels::RoofKind;
using kernels::RoofLoop;

BenchRow measure_loop(TaskPool& pool, WindowTimer& timer, const RoofLoop& loop, std::string name,
                      double seconds) {
  uint64_t rounds = 1;
  double sum = 0;
  for (Nanos took = 0; took < 2 * kMillisecond; rounds *= 2) {
    const Nanos start = now();
    loop.run(rounds, &sum);
    took = now() - start;
  }
  std::vector<Window> windows;
  uint64_t operations = 0;
  const Nanos end = now() + static_cast<Nanos>(seconds * kSecond);
  while (now() < end || windows.size() < 10)
    windows.push_back(timer.time([&] {
      std::vector<uint64_t> done(static_cast<size_t>(pool.threads()));
      pool.run(done.size(), [&](size_t task, int) {
        double unused;
        done[task] = loop.run(rounds, &unused);
      });
      operations = 0;
      for (const uint64_t n : done) operations += n;
    }));
  return rate_row(std::move(name), static_cast<double>(operations), 1e12, loop.unit, timer.estimate(windows));
}

Peaks measure_peaks(TaskPool& pool, WindowTimer& timer, std::string_view table, double seconds) {
  auto loops = kernels::roof_loops(table);
  if (loops.empty()) loops = kernels::roof_loops();
  Peaks peaks;
  for (const RoofLoop& loop : loops) {
    double* peak = loop.kind == RoofKind::kInt8   ? &peaks.int8
                   : loop.kind == RoofKind::kFp32 ? &peaks.fp32
                                                  : nullptr;
    // The first of a kind is the vector unit's.
    if (peak && *peak == 0) *peak = measure_loop(pool, timer, loop, "", seconds).best * 1e12;
  }
  return peaks;
}

double least_seconds(const Peaks& peaks, double int8_operations, double fp32_operations) {
  double seconds = 0;
  if (int8_operations > 0) seconds += int8_operations / peaks.int8;
  if (fp32_operations > 0) seconds += fp32_operations / peaks.fp32;
  return seconds;
}

std::string describe(const Peaks& peaks, double int8_operations, double fp32_operations) {
  const std::string int8 = fmt::format("int8 dot, {:.2f} TOPS", peaks.int8 / 1e12);
  const std::string fp32 = fmt::format("fp32 FMA, {:.2f} TFLOPS", peaks.fp32 / 1e12);
  if (fp32_operations == 0) return int8;
  if (int8_operations == 0) return fp32;
  return fmt::format("{}, and for {:.0f} % of the operations {}", int8,
                     100 * fp32_operations / (int8_operations + fp32_operations), fp32);
}

}  // namespace reprise
