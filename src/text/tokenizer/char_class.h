// The classes of characters that most pre-tokenizer patterns distinguish, one byte of flags per code point.
#pragma once

#include <array>
#include <cstdint>

namespace reprise {

using CharClass = uint8_t;
inline constexpr CharClass kLetter = 1;        // \p{L}
inline constexpr CharClass kNumber = 2;        // \p{N}
inline constexpr CharClass kSpace = 4;         // \s: the property White_Space
inline constexpr CharClass kNewline = 8;       // \r \n
inline constexpr CharClass kPunctuation = 16;  // \p{P}
inline constexpr CharClass kDigit = 32;        // what the pre-tokenizer Digits cuts out: \p{N} and newer ones

// Indexed by code point, 0 .. 0x110000; the last entry is that of bytes that are no character: no class.
// Filled from utf8proc's tables on first use (about 10 ms); any thread.
using CharClassTable = std::array<CharClass, 0x110001>;
const CharClassTable& char_classes();

inline bool is_space(uint32_t code_point) { return (char_classes()[code_point] & kSpace) != 0; }

}  // namespace reprise
