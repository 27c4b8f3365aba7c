// Monotonic time as a plain integer, so that sched/ and cache/ can take time as an argument without <chrono>.
#pragma once

#include <cstdint>
#include <ctime>

namespace reprise {

using Nanos = int64_t;  // a duration, or nanoseconds since an arbitrary fixed start

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

inline Nanos now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<Nanos>(t.tv_sec) * kSecond + t.tv_nsec;
}
inline double to_ms(Nanos t) { return static_cast<double>(t) / kMillisecond; }
inline double to_seconds(Nanos t) { return static_cast<double>(t) / kSecond; }

}  // namespace reprise
