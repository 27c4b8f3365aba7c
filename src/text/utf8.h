// Reading UTF-8 that may be broken: one character, or one maximal invalid part, at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace reprise {

struct Utf8Step {
  uint32_t code_point;  // kBroken where the bytes are no character
  uint8_t length;       // bytes consumed, at least 1
  bool truncated;       // broken only because the text ends here: further bytes could complete the character

  static constexpr uint32_t kBroken = 0x110000;
};

// The step at `p` (p < end). For invalid bytes it spans the maximal subpart of Unicode 15, section 3.9 (table
// 3-7): the longest prefix of a well-formed sequence, or one byte. Replacing each such step by U+FFFD is what
// Python's decoder does with errors="replace".
inline Utf8Step utf8_step(const char* p, const char* end) {
  const auto byte = [p](size_t i) { return static_cast<uint8_t>(p[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, false};
  if (lead < 0xC2 || lead > 0xF4) return {Utf8Step::kBroken, 1, false};
  const size_t needed = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // Only the second byte has a narrower range: no overlong forms, no surrogates, nothing past U+10FFFF.
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  uint32_t code_point = lead & (0xFFu >> (needed + 1));
  const size_t available = static_cast<size_t>(end - p);
  for (size_t i = 1; i < needed; ++i) {
    if (i == available) return {Utf8Step::kBroken, static_cast<uint8_t>(i), true};
    if (byte(i) < low || byte(i) > high) return {Utf8Step::kBroken, static_cast<uint8_t>(i), false};
    low = 0x80;
    high = 0xBF;
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  return {code_point, static_cast<uint8_t>(needed), false};
}

inline bool is_utf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    if (static_cast<uint8_t>(*p) < 0x80) {
      ++p;
      continue;
    }
    const Utf8Step step = utf8_step(p, end);
    if (step.code_point == Utf8Step::kBroken) return false;
    p += step.length;
  }
  return true;
}

// `text` with U+FFFD for each maximal invalid part.
inline std::string as_utf8(std::string_view text) {
  std::string out;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Utf8Step step = utf8_step(p, end);
    out += step.code_point == Utf8Step::kBroken ? std::string_view("\xEF\xBF\xBD")
                                                : std::string_view(p, step.length);
    p += step.length;
  }
  return out;
}

inline void append_utf8(std::string& out, uint32_t code_point) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 63));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 63));
    put(0x80 | (code_point & 63));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 63));
    put(0x80 | (code_point >> 6 & 63));
    put(0x80 | (code_point & 63));
  }
}

}  // namespace reprise
