// The sets of characters that Oniguruma has names for, in PCRE2's terms (UTF, UCP).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise {

struct CharSet {
  std::string items;  // of a PCRE2 class
  // What a class that holds the set and ignores case matches besides.
  enum class CaselessClass {
    kSame,
    kIota,  // U+0345, a mark whose capital is a letter
    kNone,  // no PCRE2 class is the same: small letters for capitals, or the other way round
  };
  CaselessClass caseless = CaselessClass::kSame;
};

// \p{name}, without the ^ of a complement. A name that is not known is passed on: PCRE2 knows it, or refuses.
CharSet property_set(std::string_view name);
// [:name:] within a class, without the ^; nothing: there is none.
std::optional<CharSet> bracket_set(std::string_view name);

inline constexpr std::string_view kSpaceSet = R"(\p{White_Space})";                 // \s
inline constexpr std::string_view kHexSet = "0-9A-Fa-f";                            // \h
inline constexpr std::string_view kWordSet = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";  // \w in a class
// \w by itself, and what \b sees as a word: for these Oniguruma asks a table of Latin-1, in which some more
// numbers are word characters.
inline constexpr std::string_view kLoneWordSet =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

}  // namespace reprise
