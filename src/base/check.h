// CHECK(condition, "format", args...): a broken invariant prints where and why, and aborts. It stays on in
// release builds; DCHECK is for conditions too costly there and compiles to nothing when NDEBUG is defined.
#pragma once

#include <source_location>
#include <string>

#include <fmt/format.h>

namespace reprise {
[[noreturn]] void check_failed(const char* condition, const std::string& message,
                               std::source_location where = std::source_location::current());
}  // namespace reprise

#define CHECK(condition, ...)                                             \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::reprise::check_failed(#condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

#ifdef NDEBUG
#define DCHECK(condition, ...) \
  do {                         \
    if (false) {               \
      (void)(condition);       \
    }                          \
  } while (false)
#else
#define DCHECK(condition, ...) CHECK(condition, __VA_ARGS__)
#endif
