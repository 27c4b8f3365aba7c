// Design: a unit holds the offset to its children (bits 10-30, shifted by 8 if bit 9 is set), its byte (bits
// 0-7, bit 31 clear) and whether a value hangs below it (bit 8); a value's unit is the value.
#include "text/tokenizer/character_map.h"

#include <cstring>

namespace reprise {

Result<CharacterMap> CharacterMap::parse(std::string_view bytes) {
  CharacterMap map;
  uint32_t size = 0;
  if (bytes.size() < sizeof size) return invalid("the tokenizer's character map is cut off");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size == 0 || size > bytes.size() || size % sizeof(uint32_t) != 0)
    return invalid("the tokenizer's character map has {} bytes of {}", size, bytes.size());
  map.units_.resize(size / sizeof(uint32_t));
  std::memcpy(map.units_.data(), bytes.data(), size);
  map.replacements_ = bytes.substr(size);
  map.replacements_ += '\0';
  return map;
}

std::optional<CharacterMap::Match> CharacterMap::find(std::string_view text, bool shortest) const {
  const auto offset = [](uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
  std::optional<Match> found;
  size_t node = offset(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size()) break;
    const uint32_t unit = units_[node];
    if ((unit & (1u << 31 | 0xFF)) != byte) break;
    node ^= offset(unit);
    if ((unit >> 8 & 1) == 0) continue;
    if (node >= units_.size()) break;
    const size_t value = units_[node] & ~(1u << 31);
    if (value < replacements_.size()) found = Match{i + 1, replacements_.c_str() + value};
    if (found && shortest) break;
  }
  return found;
}

}  // namespace reprise
