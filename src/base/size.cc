#include "base/size.h"

#include <charconv>
#include <cmath>

namespace reprise {

Result<size_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view suffix(end, text.data() + text.size() - end);
  const auto bad = [&] { return invalid("'{}' is not a size: write bytes, or 60M, 8G, 1.5G", text); };
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return bad();
  double factor = 1;
  if (!suffix.empty()) {
    constexpr std::string_view kLetters = "KMGT";
    const char letter = static_cast<char>(suffix[0] >= 'a' ? suffix[0] - 'a' + 'A' : suffix[0]);
    const size_t power = kLetters.find(letter);
    if (power != std::string_view::npos) {
      factor = std::pow(1024.0, static_cast<double>(power) + 1);
      suffix.remove_prefix(1);
      if (suffix.starts_with('i')) suffix.remove_prefix(1);
    }
    if (suffix == "B" || suffix == "b") suffix.remove_prefix(1);
    if (!suffix.empty()) return bad();
  }
  if (number * factor >= 0x1p63) return bad();
  return static_cast<size_t>(number * factor);
}

std::string format_size(size_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace reprise
