// Design: each limit with one thread and with all; compute loops are timed as windows of their own pool.
#include "probe/roof.h"

#include <unistd.h>

#include "kernels/roof.h"
#include "probe/bandwidth.h"
#include "probe/windows.h"

namespace reprise {

namespace {

BenchRow measure_loop(TaskPool& pool, WindowTimer& timer, const kernels::RoofLoop& loop, std::string name,
                      double seconds) {
  uint64_t rounds = 1;
  for (Nanos took = 0; took < 2 * kMillisecond; rounds *= 2) {
    const Nanos start = now();
    double sum;
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
        double sum;
        done[task] = loop.run(rounds, &sum);
      });
      operations = 0;
      for (const uint64_t n : done) operations += n;
    }));
  return rate_row(std::move(name), static_cast<double>(operations), 1e12, loop.unit, timer.estimate(windows));
}

}  // namespace

Result<std::vector<BenchRow>> bench_roof(const RoofOptions& options) {
  const auto loops = kernels::roof_loops();
  if (loops.empty())
    return fail(ErrorKind::kUnsupported, "the peak loops need AVX2 at least, which this CPU lacks");
  const auto available =
      static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (options.dram_bytes > available)
    return fail(ErrorKind::kTooLarge,
                "the DRAM rows need {} MiB of memory, {} are free: close something else",
                options.dram_bytes >> 20, available >> 20);

  const int all = options.threads > 0 ? options.threads : usable_cpus();
  std::vector<BenchRow> rows;
  for (const int threads : {1, all}) {
    if (threads == 1 && all == 1 && !rows.empty()) break;
    TaskPool pool(threads);
    WindowTimer timer(pool);
    const auto named = [&](const char* what) {
      return fmt::format("{}, {} {}", what, threads, threads == 1 ? "thread" : "threads");
    };
    const size_t share = static_cast<size_t>(threads);
    rows.push_back(measure_read(pool, timer, named("read L2"), share * (size_t{1} << 20), options.seconds));
    rows.push_back(measure_read(pool, timer, named("read L3"), share * (size_t{16} << 20), options.seconds));
    rows.push_back(measure_read(pool, timer, named("read DRAM"), options.dram_bytes, options.seconds));
    for (const kernels::RoofLoop& loop : loops)
      rows.push_back(measure_loop(pool, timer, loop, named(loop.name), options.seconds));
  }
  return rows;
}

}  // namespace reprise
