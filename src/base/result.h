// Errors as values. A function that can fail because of its caller's input returns Result<T>; a broken
// invariant aborts (base/check.h). No exception crosses a module: code that calls a throwing library catches
// at the call.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace reprise {

enum class ErrorKind {
  kInvalid,      // the input is wrong: bad value, bad type, malformed file or body
  kNotFound,     // a named thing does not exist
  kUnsupported,  // well-formed, but this build or version cannot do it
  kTooLarge,     // exceeds a limit that the caller may lower its request to
  kOverloaded,   // a queue or budget is full now; retrying later may work
  kUnavailable,  // starting, draining or stopped
  kCancelled,    // the caller asked for it
  kInternal,     // our fault, yet only this request is affected
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;  // one line for a person: what is wrong and what to do
  std::string param;    // the offending field, flag or key, when there is one
};

template <typename T>
using Result = std::expected<T, Error>;

template <typename... Args>
std::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{kind, fmt::format(format, std::forward<Args>(args)...), {}});
}
template <typename... Args>
std::unexpected<Error> invalid(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorKind::kInvalid, format, std::forward<Args>(args)...);
}
// The same, naming the field that is at fault.
template <typename... Args>
std::unexpected<Error> invalid_param(std::string param, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Error{ErrorKind::kInvalid, fmt::format(format, std::forward<Args>(args)...), std::move(param)});
}

}  // namespace reprise

// TRY(expr): the value of a Result, or return its error from the enclosing function.
// A statement expression (GCC and clang): usable as `auto x = TRY(f());` and `TRY(g());`.
#define TRY(...)                                                              \
  ({                                                                          \
    auto try_result_ = (__VA_ARGS__);                                         \
    if (!try_result_) return std::unexpected(std::move(try_result_).error()); \
    ::reprise::detail::unwrap(std::move(try_result_));                        \
  })

namespace reprise::detail {
template <typename T>
T unwrap(std::expected<T, Error>&& result) {
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace reprise::detail
