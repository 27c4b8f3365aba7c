#include "text/tokenizer/byte_alphabet.h"

#include <array>
#include <charconv>

#include "text/utf8.h"

namespace reprise {
namespace {

constexpr int kLetters = 0x144;

constexpr std::array<int16_t, kLetters> make_bytes() {
  std::array<int16_t, kLetters> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  int16_t next = 0x100;
  for (int16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    bytes[printable ? byte : next++] = byte;
  }
  return bytes;
}
constexpr std::array<int16_t, kLetters> kBytes = make_bytes();

}  // namespace

std::optional<std::string> bytes_of_letters(std::string_view letters) {
  std::string bytes;
  const char* const end = letters.data() + letters.size();
  for (const char* p = letters.data(); p < end;) {
    const Utf8Step step = utf8_step(p, end);
    if (step.code_point >= kLetters || kBytes[step.code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[step.code_point]);
    p += step.length;
  }
  return bytes;
}

std::string letters_of_bytes(std::string_view bytes) {
  static const std::array<std::string, 256> letters = [] {
    std::array<std::string, 256> made;
    for (uint32_t letter = 0; letter < kLetters; ++letter)
      if (kBytes[letter] >= 0) append_utf8(made[static_cast<size_t>(kBytes[letter])], letter);
    return made;
  }();
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) text += letters[static_cast<uint8_t>(byte)];
  return text;
}

std::optional<uint8_t> byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  uint8_t byte = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  if (error != std::errc() || end != text.data() + 5) return std::nullopt;
  return byte;
}

}  // namespace reprise
