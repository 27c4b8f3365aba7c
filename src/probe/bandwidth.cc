// Design: tasks of 256 KiB (or the thread's share, when that is less) claimed by the pool, as kernels stream
// weights.
#include "probe/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "engine/kv_memory.h"
#include "kernels/roof.h"

namespace reprise {

namespace {
constexpr size_t kTask = size_t{256} << 10;
constexpr size_t kWindowBytes = size_t{64} << 20;  // 3 to 10 ms

size_t told(int name, size_t otherwise) {
  const long size = sysconf(name);
  return size > 0 ? static_cast<size_t>(size) : otherwise;
}
}  // namespace

size_t l2_bytes() { return told(_SC_LEVEL2_CACHE_SIZE, size_t{1} << 20); }
size_t l3_bytes() { return told(_SC_LEVEL3_CACHE_SIZE, 0); }

const char* cache_level(size_t bytes, int threads) {
  if (bytes <= l2_bytes() * static_cast<size_t>(threads)) return "L2";
  if (bytes <= std::min(l3_bytes(), kDramBytes)) return "L3";
  return bytes >= std::min(4 * l3_bytes(), kDramBytes) ? "DRAM" : "L3 and DRAM";
}

Result<void> check_memory(size_t bytes) {
  const size_t available = TRY(available_memory());
  if (bytes > available)
    return fail(ErrorKind::kTooLarge, "measuring needs {} MiB of memory, {} are free: close something else",
                bytes >> 20, available >> 20);
  return {};
}

ReadProbe::ReadProbe(TaskPool& pool, size_t bytes)
    : pool_(pool),
      buffer_(bytes),
      size_(bytes / 512 * 512),
      window_(std::max(kWindowBytes / size_, size_t{1}) * size_) {
  if (size_ > kWindowBytes) window_ = kWindowBytes;
  std::memset(buffer_.data(), 1, bytes);  // the pages exist
}

uint64_t ReadProbe::read_window() {
  const size_t task_bytes = std::min(kTask, std::max<size_t>(512, size_ / pool_.threads() / 512 * 512));
  const size_t start = at_;
  std::atomic<uint64_t> all = 0;
  pool_.run((window_ + task_bytes - 1) / task_bytes, [&](size_t task, int) {
    const size_t from = task * task_bytes, bytes = std::min(task_bytes, window_ - from);
    const size_t at = (start + from) % size_;
    const size_t first = std::min(bytes, size_ - at);
    uint64_t seen = kernels::roof_read(buffer_.data() + at, first);
    if (first < bytes) seen ^= kernels::roof_read(buffer_.data(), bytes - first);
    all.fetch_add(static_cast<uint32_t>(seen ^ seen >> 32), std::memory_order_relaxed);
  });
  at_ = (at_ + window_) % size_;
  return all;
}

BenchRow measure_read(TaskPool& pool, WindowTimer& timer, std::string name, size_t bytes, double seconds) {
  ReadProbe probe(pool, std::clamp(bytes, size_t{4096}, kDramBytes));
  std::vector<Window> windows;
  const Nanos end = now() + static_cast<Nanos>(seconds * kSecond);
  probe.read_window();
  while (now() < end || windows.size() < 10) windows.push_back(timer.time([&] { probe.read_window(); }));
  return rate_row(std::move(name), static_cast<double>(probe.window_bytes()), 1e9, "GB/s",
                  timer.estimate(windows));
}

}  // namespace reprise
