// How vocabularies write bytes. GPT-2's byte letters: how byte-level vocabularies write arbitrary bytes as
// printable text. Bytes that are printable Latin-1 stand for themselves; the other 68 are U+0100 .. U+0143 in
// order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

// The bytes that `letters` (UTF-8) stand for; nothing where a character is no byte letter.
std::optional<std::string> bytes_of_letters(std::string_view letters);

std::string letters_of_bytes(std::string_view bytes);

// SentencePiece's byte tokens: the byte of "<0x0A>"; nothing for any other text.
std::optional<uint8_t> byte_of_token(std::string_view text);

}  // namespace reprise
