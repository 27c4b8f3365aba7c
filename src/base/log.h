// The process log: one line an event, on standard error, through spdlog. Use it for what an operator acts on
// or needs later (start-up facts, one line a request at debug level, failures), never inside kernels or the
// step loop.
#pragma once

#include <spdlog/spdlog.h>

namespace reprise::log {
using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

enum class Level { kDebug, kInfo, kWarn, kError, kOff };
// Sets level and format once at start; before it, spdlog's defaults apply. Call from main only.
void init(Level level);
}  // namespace reprise::log
