// Read bandwidth of a working set of a given size, all threads of a pool reading disjoint parts.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/task_pool.h"
#include "kernels/buffer.h"
#include "probe/windows.h"

namespace reprise {

// Nothing this large stays in a cache, not even in an L3 of several hundred MiB that strangers share.
inline constexpr size_t kDramBytes = size_t{1280} << 20;

// What the system says of this machine's caches. An L3 that it does not tell has 0 bytes.
size_t l2_bytes();  // of one core
size_t l3_bytes();

// The level a working set of this size lives in: "L2", "L3", "L3 and DRAM" or "DRAM".
const char* cache_level(size_t bytes, int threads);

// Error: less than `bytes` of memory are available to this process.
Result<void> check_memory(size_t bytes);

// A buffer read in passes; a pass that would last more than 50 ms is cut into windows that go on where the
// last stopped. Small buffers are read several times a window.
class ReadProbe {
 public:
  // bytes >= 512, rounded down to a multiple of 512.
  ReadProbe(TaskPool& pool, size_t bytes);
  std::byte* data() { return buffer_.data(); }
  size_t bytes() const { return size_; }
  // Bytes read by one window.
  size_t window_bytes() const { return window_; }
  // A sum over all that was read: another one when any bit is.
  uint64_t read_window();

 private:
  TaskPool& pool_;
  kernels::Buffer buffer_;
  size_t size_, window_, at_ = 0;
};

// GB/s of a working set of `bytes`, or of kDramBytes when that is less, for about `seconds` of measuring.
BenchRow measure_read(TaskPool& pool, WindowTimer& timer, std::string name, size_t bytes, double seconds);

}  // namespace reprise
