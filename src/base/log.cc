#include "base/log.h"

#include <memory>

#include <spdlog/sinks/stdout_color_sinks.h>

namespace reprise::log {
void init(Level level) {
  auto logger =
      std::make_shared<spdlog::logger>("reprise", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  constexpr spdlog::level::level_enum levels[] = {
      spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err, spdlog::level::off};
  logger->set_level(levels[static_cast<int>(level)]);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}
}  // namespace reprise::log
