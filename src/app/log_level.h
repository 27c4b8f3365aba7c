// The names of log levels, as flags and settings give them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace reprise {

inline std::optional<log::Level> log_level_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, log::Level>, 5> kLevels = {{{"debug", log::Level::kDebug},
                                                                               {"info", log::Level::kInfo},
                                                                               {"warn", log::Level::kWarn},
                                                                               {"error", log::Level::kError},
                                                                               {"off", log::Level::kOff}}};
  for (const auto& [known, level] : kLevels) {
    if (known == name) return level;
  }
  return std::nullopt;
}

}  // namespace reprise
