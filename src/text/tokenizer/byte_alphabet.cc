#include "text/tokenizer/byte_alphabet.h"

#include <array>

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

}  // namespace reprise
