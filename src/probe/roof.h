// What this machine can do at most: read bandwidth by cache level, and arithmetic of each kind its CPU has.
// The limits that every other benchmark is a share of.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/task_pool.h"
#include "probe/report.h"

namespace reprise {

struct RoofOptions {
  int threads = 0;       // 0 = all usable CPUs; each row is measured with one thread and with all
  double seconds = 0.4;  // per row
  size_t dram_bytes = size_t{1280} << 20;  // buffer of the DRAM rows: far beyond any cache
};

// Errors: not enough memory for dram_bytes, or an instruction set this build has no loops for.
Result<std::vector<BenchRow>> bench_roof(const RoofOptions& options = {});

}  // namespace reprise
