// The classes of characters that some pre-tokenizer patterns distinguish: char_class.h's and more, two bytes
// of flags per code point.
#pragma once

#include <array>
#include <cstdint>

#include "text/tokenizer/char_class.h"

namespace reprise {

using FineClass = uint16_t;
inline constexpr FineClass kMark = 1 << 6;           // \p{M}
inline constexpr FineClass kUpper = 1 << 7;          // \p{Lu} \p{Lt}
inline constexpr FineClass kLower = 1 << 8;          // \p{Ll}
inline constexpr FineClass kSymbol = 1 << 9;         // \p{S}
inline constexpr FineClass kHan = 1 << 10;           // \p{Han}
inline constexpr FineClass kDeepseekKana = 1 << 11;  // deepseek-v3's second pattern: U+4E00-U+9FA5 and kana
inline constexpr FineClass kDeepseekWord = 1 << 12;  // deepseek-llm's letters: those of alphabets with case
inline constexpr FineClass kDeepseekMark = 1 << 13;  // deepseek-llm's punctuation
inline constexpr FineClass kDeepseekIdeo =
    1 << 14;  // the elder deepseeks' third class: U+0800-U+9FA5 and Hangul

// As CharClassTable. Filled on first use (about 50 ms); any thread.
using FineClassTable = std::array<FineClass, 0x110001>;
const FineClassTable& fine_classes();

}  // namespace reprise
