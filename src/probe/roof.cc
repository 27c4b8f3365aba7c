// Design: each limit with one thread and with all; compute loops are timed as windows of their own pool.
#include "probe/roof.h"

#include <algorithm>

#include "kernels/roof.h"
#include "kernels/table.h"
#include "probe/peaks.h"
#include "probe/windows.h"

namespace reprise {

Result<std::vector<BenchRow>> bench_roof(const RoofOptions& options) {
  TRY(kernels::select(options.kernels));
  const auto loops = kernels::roof_loops(options.kernels);
  if (loops.empty() && !options.kernels.empty())
    return fail(ErrorKind::kUnsupported,
                "there are no peak loops for kernel table '{}': use avx2, avx512 or avx512bf16",
                options.kernels);
  if (loops.empty())
    return fail(ErrorKind::kUnsupported, "the peak loops need AVX2 at least, which this CPU lacks");
  TRY(check_memory(options.dram_bytes));

  const int all = options.threads > 0 ? options.threads : usable_cpus();
  std::vector<BenchRow> rows;
  for (const int threads : {1, all}) {
    if (threads == 1 && !rows.empty()) break;  // all is one
    TaskPool pool(threads);
    WindowTimer timer(pool);
    const auto named = [&](const char* what) {
      return fmt::format("{}, {} {}", what, threads, threads == 1 ? "thread" : "threads");
    };
    const auto read = [&](const char* what, size_t bytes) {
      rows.push_back(measure_read(pool, timer, named(what), bytes, options.seconds));
    };
    const size_t l2 = l2_bytes() * static_cast<size_t>(threads);
    read("read L2", l2 / 2);
    // Too large for the L2s by far, and with room to spare in a shared L3.
    if (const size_t l3 = std::min(8 * l2, l3_bytes() / 2); l3 > 2 * l2) read("read L3", l3);
    read("read DRAM", options.dram_bytes);
    for (const kernels::RoofLoop& loop : loops)
      rows.push_back(measure_loop(pool, timer, loop, named(loop.name), options.seconds));
  }
  return rows;
}

}  // namespace reprise
