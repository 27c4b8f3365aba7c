// What Unicode says, in the versions that Hugging Face's library says it in: its patterns are of Unicode 16,
// its normalization and categories older, PCRE2 10.42 and utf8proc 2.8 between them. Each function bridges
// what our libraries lack. `c` is a code point, or Utf8Step::kBroken (of which nothing is true).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

// A character that PCRE2 and utf8proc class as Unicode 16 classes `c`: `c` itself but for the newest.
uint32_t stand_in(uint32_t c);
// `text` with every such character in its place, at the same offsets; nothing if there is none.
std::optional<std::string> with_stand_ins(std::string_view text);

// What the pre-tokenizer Digits cuts out, which has the numbers of Unicode 17.
inline constexpr std::string_view kLibraryDigit = R"([\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}])";

bool is_newest_number(uint32_t c);                    // of Unicode 17 and none before
bool is_unicode_punctuation(uint32_t c);              // \p{P}, as utf8proc knows it
bool is_inert(uint32_t c);                            // normalization forms leave it alone
bool is_library_punctuation(uint32_t c);              // Punctuation and BertPreTokenizer, ASCII symbols aside
bool is_library_control(uint32_t c);                  // what BertNormalizer drops
bool is_library_accent(uint32_t c);                   // the same for strip_accents
bool is_library_mark(uint32_t c);                     // StripAccents
void append_lowercase(std::string& out, uint32_t c);  // Rust's to_lowercase

}  // namespace reprise
