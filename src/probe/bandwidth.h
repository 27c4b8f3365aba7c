// Read bandwidth of a working set of a given size, all threads of a pool reading disjoint parts.
#pragma once

#include <cstddef>
#include <string>

#include "base/task_pool.h"
#include "kernels/buffer.h"
#include "probe/windows.h"

namespace reprise {

// A buffer read in passes; a pass that would last more than 50 ms is cut into windows that go on where the
// last stopped.
class ReadProbe {
 public:
  ReadProbe(TaskPool& pool, size_t bytes);
  // Bytes read by one window.
  size_t window_bytes() const { return window_; }
  void read_window();

 private:
  TaskPool& pool_;
  kernels::Buffer buffer_;
  size_t size_, window_, at_ = 0;
};

// GB/s of a working set of `bytes` for about `seconds` of measuring.
BenchRow measure_read(TaskPool& pool, WindowTimer& timer, std::string name, size_t bytes, double seconds);

// The level a working set of this size lives in: "L2", "L3" or "DRAM".
const char* cache_level(size_t bytes, int threads);

}  // namespace reprise
