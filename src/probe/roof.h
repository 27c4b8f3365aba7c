// What this machine can do at most: read bandwidth by cache level, and arithmetic of each kind its CPU has.
// The limits that every other benchmark is a share of.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/bandwidth.h"
#include "probe/report.h"

namespace reprise {

struct RoofOptions {
  int threads = 0;       // 0 = all usable CPUs; each row is measured with one thread and with all
  std::string kernels;   // peak loops of this table's instruction set; empty = the best for this CPU
  double seconds = 0.4;  // per row
  size_t dram_bytes = kDramBytes;  // buffer of the DRAM rows: far beyond any cache
};

// Rows: reading L2, L3 (where the system tells its size) and DRAM, then each peak loop. Errors: not enough
// memory for dram_bytes, unknown kernels, or an instruction set this build has no loops for.
Result<std::vector<BenchRow>> bench_roof(const RoofOptions& options = {});

}  // namespace reprise
