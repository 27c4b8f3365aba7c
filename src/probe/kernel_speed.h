// Each kernel of a table beside the machine's limit: matrix multiply by weight type and rows, hot and from
// DRAM, and attention for decode and prefill at depth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/bandwidth.h"
#include "probe/report.h"

namespace reprise {

struct KernelBenchOptions {
  int threads = 0;      // 0 = all usable CPUs
  std::string kernels;  // table by name; empty = the best for this CPU
  std::vector<std::string> types = {"Q4_1", "Q4_K", "Q8_0", "Q6_K", "BF16"};  // of weights, by GGUF's names
  double seconds = 0.3;                                                       // per row
  uint32_t size = 2048;            // of the square matrices, a multiple of 256
  uint32_t depth = 8192;           // of attention, a multiple of 64
  size_t dram_bytes = kDramBytes;  // of the copies that DRAM rows rotate over
};

// Results are first compared with the reference table's, and rows of a batch, bit for bit, with the same rows
// alone. Rows that docs/kernels.md gives a floor for, as a share of the limit measured in the same run, are
// judged by it. Errors: unknown kernels or types, not enough memory, and results that are wrong.
Result<std::vector<BenchRow>> bench_kernels(const KernelBenchOptions& options = {});

}  // namespace reprise
