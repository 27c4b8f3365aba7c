// 64-bit in-memory hash (xxh3). Not for names that leave the process: those use SHA-256.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <xxhash.h>

namespace reprise {

inline uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(data, size, seed);
}
inline uint64_t hash(std::string_view text, uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

template <typename T>
requires std::has_unique_object_representations_v<T> uint64_t hash(std::span<const T> values,
                                                                   uint64_t seed = 0) {
  return hash_bytes(values.data(), values.size_bytes(), seed);
}

}  // namespace reprise
