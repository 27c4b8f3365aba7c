// How the interpreter fails inside: one exception type, caught at the module's border (template.cc) and
// turned into an Error. A failure thrown below the parser or the interpreter has no position; they add it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"

namespace reprise::jinja {

struct Position {
  uint32_t line = 0;    // from 1; 0 = unknown
  uint32_t column = 0;  // from 1, in bytes
};

struct Failure {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;
  Position where;
  bool verbatim = false;  // raise_exception: the template author's own message, reported without a position
};

// The template or its input is wrong.
template <typename... Args>
[[noreturn]] void raise(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{ErrorKind::kInvalid, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
[[noreturn]] void raise_at(Position where, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{ErrorKind::kInvalid, fmt::format(format, std::forward<Args>(args)...), where};
}
// A budget is exhausted.
template <typename... Args>
[[noreturn]] void exceed(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{ErrorKind::kTooLarge, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace reprise::jinja
