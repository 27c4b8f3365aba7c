// Design: tasks of 256 KiB (or the thread's share, when that is less) claimed by the pool, as kernels stream
// weights.
#include "probe/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "kernels/roof.h"

namespace reprise {

namespace {
constexpr size_t kTask = size_t{256} << 10;
constexpr size_t kDram = size_t{1200} << 20;       // nothing this large stays in a shared L3
constexpr size_t kWindowBytes = size_t{64} << 20;  // 3 to 10 ms

size_t l2_bytes() {
  const long size = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return size > 0 ? static_cast<size_t>(size) : size_t{1} << 20;
}
std::atomic<uint64_t> sink;  // keeps what was read
}  // namespace

const char* cache_level(size_t bytes, int threads) {
  if (bytes <= l2_bytes() * static_cast<size_t>(threads)) return "L2";
  return bytes < kDram ? "L3" : "DRAM";
}

ReadProbe::ReadProbe(TaskPool& pool, size_t bytes)
    : pool_(pool),
      buffer_(bytes),
      size_(bytes / 512 * 512),
      window_(std::max(kWindowBytes / size_, size_t{1}) * size_) {
  if (size_ > kWindowBytes) window_ = kWindowBytes;
  std::memset(buffer_.data(), 1, bytes);  // the pages exist
}

void ReadProbe::read_window() {
  const size_t task_bytes = std::min(kTask, std::max<size_t>(512, size_ / pool_.threads() / 512 * 512));
  const size_t start = at_;
  pool_.run((window_ + task_bytes - 1) / task_bytes, [&](size_t task, int) {
    const size_t from = task * task_bytes, bytes = std::min(task_bytes, window_ - from);
    const size_t at = (start + from) % size_;
    const size_t first = std::min(bytes, size_ - at);
    uint64_t seen = kernels::roof_read(buffer_.data() + at, first);
    if (first < bytes) seen += kernels::roof_read(buffer_.data(), bytes - first);
    sink.fetch_xor(seen, std::memory_order_relaxed);
  });
  at_ = (at_ + window_) % size_;
}

BenchRow measure_read(TaskPool& pool, WindowTimer& timer, std::string name, size_t bytes, double seconds) {
  ReadProbe probe(pool, bytes);
  std::vector<Window> windows;
  const Nanos end = now() + static_cast<Nanos>(seconds * kSecond);
  probe.read_window();
  while (now() < end || windows.size() < 10) windows.push_back(timer.time([&] { probe.read_window(); }));
  return rate_row(std::move(name), static_cast<double>(probe.window_bytes()), 1e9, "GB/s",
                  timer.estimate(windows));
}

}  // namespace reprise
