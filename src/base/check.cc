#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace reprise {
void check_failed(const char* condition, const std::string& message, std::source_location where) {
  std::fprintf(stderr, "%s:%u: CHECK(%s) failed in %s%s%s\n", where.file_name(), where.line(), condition,
               where.function_name(), message.empty() ? "" : ": ", message.c_str());
  std::fflush(stderr);
  std::abort();
}
}  // namespace reprise
