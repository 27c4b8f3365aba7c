// A short word as a fixed-size value: compared and hashed without touching its bytes again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace reprise {

struct WordKey {
  static constexpr size_t kMaxBytes = 24;

  uint64_t a = 0, b = 0, c = 0;  // with `length`, these determine every byte
  uint32_t length = 0;

  // 1 <= word.size() <= kMaxBytes. The loads overlap instead of reaching past the word.
  static WordKey of(std::string_view word) {
    const auto load = [p = word.data()]<typename T>(size_t at, T) {
      T value;
      std::memcpy(&value, p + at, sizeof(T));
      return value;
    };
    const size_t n = word.size();
    WordKey key;
    key.length = static_cast<uint32_t>(n);
    if (n >= 8) {
      key.a = load(0, uint64_t{});
      key.b = load(n - 8, uint64_t{});
      if (n > 16) key.c = load(8, uint64_t{});
    } else if (n >= 4) {
      key.a = static_cast<uint64_t>(load(0, uint32_t{})) << 32 | load(n - 4, uint32_t{});
    } else {
      key.a = static_cast<uint64_t>(load(0, uint8_t{})) << 16 |
              static_cast<uint64_t>(load(n / 2, uint8_t{})) << 8 | load(n - 1, uint8_t{});
    }
    return key;
  }

  bool operator==(const WordKey&) const = default;

  uint64_t hash() const {
    uint64_t h = (a ^ length) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ b) * 0xD6E8FEB86659FD93u;
    h = (h ^ (h >> 32) ^ c) * 0xA0761D6478BD642Fu;
    return h ^ (h >> 29);
  }
};

}  // namespace reprise
