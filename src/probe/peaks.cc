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

Peaks measure_peaks(TaskPool& pool, WindowTimer& timer, const kernels::Table& table, double seconds) {
  auto loops = kernels::roof_loops(table.name);
  if (loops.empty()) loops = kernels::roof_loops();
  Peaks peaks;
  for (const RoofLoop& loop : loops) {
    if (loop.kind == RoofKind::kBf16 && !table.bf16_attention) continue;  // nothing would be compared with it
    double& peak = loop.kind == RoofKind::kInt8   ? peaks.int8
                   : loop.kind == RoofKind::kBf16 ? peaks.bf16
                                                  : peaks.fp32;
    // The first of a kind is the vector unit's.
    if (peak == 0) peak = measure_loop(pool, timer, loop, "", seconds).best * 1e12;
  }
  return peaks;
}

double least_seconds(const Peaks& peaks, const Operations& job) {
  double seconds = 0;
  if (job.int8 > 0) seconds += job.int8 / peaks.int8;
  if (job.bf16 > 0) seconds += job.bf16 / peaks.bf16;
  if (job.fp32 > 0) seconds += job.fp32 / peaks.fp32;
  return seconds;
}

std::string describe(const Peaks& peaks, const Operations& job) {
  const struct {
    double operations, peak;
    const char *name, *unit;
  } kinds[] = {{job.int8, peaks.int8, "int8 dot", "TOPS"},
               {job.bf16, peaks.bf16, "bf16 dot", "TFLOPS"},
               {job.fp32, peaks.fp32, "fp32 FMA", "TFLOPS"}};
  std::string text;
  for (const auto& kind : kinds) {
    if (kind.operations <= 0.005 * job.total()) continue;  // 0 %
    if (!text.empty())
      text += fmt::format(", and for {:.0f} % of the operations ", 100 * kind.operations / job.total());
    text += fmt::format("{}, {:.2f} {}", kind.name, kind.peak / 1e12, kind.unit);
  }
  return text;
}

}  // namespace reprise
