// Each kernel of a table beside the machine's limit: matrix multiply by weight type and rows, hot and from
// DRAM, and attention for decode and prefill at depth.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report.h"

namespace reprise {

struct KernelBenchOptions {
  int threads = 0;       // 0 = all usable CPUs
  std::string kernels;   // table by name; empty = the best for this CPU
  double seconds = 0.3;  // per row
};

Result<std::vector<BenchRow>> bench_kernels(const KernelBenchOptions& options = {});

}  // namespace reprise
