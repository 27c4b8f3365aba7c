// The classes of characters that pre-tokenizer patterns distinguish, one byte of flags per code point.
#pragma once

#include <array>
#include <cstdint>

namespace reprise {

using CharClass = uint8_t;
inline constexpr CharClass kLetter = 1;          // \p{L}
inline constexpr CharClass kNumber = 2;          // \p{N}
inline constexpr CharClass kSpace = 4;           // \s: the property White_Space
inline constexpr CharClass kNewline = 8;         // \r \n
inline constexpr CharClass kPunctuation = 16;    // \p{P}
inline constexpr CharClass kDeepseekWord = 32;   // deepseek-llm's letters: those of alphabets with case
inline constexpr CharClass kDeepseekMark = 64;   // deepseek-llm's punctuation
inline constexpr CharClass kDeepseekIdeo = 128;  // both deepseeks' third class: U+0800-U+9FA5 and Hangul

// Indexed by code point, 0 .. 0x110000; the last entry is that of bytes that are no character: no class.
// Filled from utf8proc's tables on first use (about 10 ms); any thread.
using CharClassTable = std::array<CharClass, 0x110001>;
const CharClassTable& char_classes();

}  // namespace reprise
