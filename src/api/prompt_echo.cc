// Design: the tokens are laid along the text. A token's bytes are mostly the text's next ones. Where they are
// not, the vocabulary has normalised the text, added to it or not known a part of it: then the token is
// looked for a little ahead, and where it is not either it takes as many characters as it has.
#include "api/prompt_echo.h"

#include <utility>

#include "api/token_text.h"

namespace reprise {
namespace {

constexpr size_t kLookAhead = 64;  // bytes

bool continues_character(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

struct Part {
  size_t skipped, size;  // bytes
};

// Where in `rest` the token lies.
Part part_of(std::string_view rest, std::string_view bytes, bool hidden) {
  if (rest.starts_with(bytes)) return {0, bytes.size()};
  if (hidden) return {0, 0};  // it was added, or stands for what the vocabulary does not know
  if (bytes.starts_with(' ') && rest.starts_with(bytes.substr(1))) return {0, bytes.size() - 1};
  const size_t found = rest.substr(0, kLookAhead).find(bytes);
  if (found != std::string_view::npos) return {found, bytes.size()};
  size_t size = 0;
  for (size_t left = count_characters(to_valid_utf8(bytes)); left > 0 && size < rest.size(); --left) {
    do ++size;
    while (size < rest.size() && continues_character(rest[size]));
  }
  return {0, size};
}

}  // namespace

PromptEcho make_echo(std::string text, TokenSpan tokens, const Tokenizer& tokenizer) {
  PromptEcho echo{std::move(text), tokens.front(), {}, 0};
  const std::string_view all = echo.text;
  echo.offsets.reserve(tokens.size());
  size_t at = 0;
  uint32_t begun = 0;  // characters that begin before `at`
  const auto advance = [&](size_t bytes) {
    begun += static_cast<uint32_t>(count_characters(all.substr(at, bytes)));
    at += bytes;
  };
  for (const TokenId token : tokens) {
    const Part part = part_of(all.substr(at), tokenizer.bytes(token), tokenizer.is_hidden(token));
    advance(part.skipped);
    // As of the output's tokens: characters that are complete before it.
    echo.offsets.push_back(begun - (at < all.size() && continues_character(all[at]) ? 1 : 0));
    advance(part.size);
  }
  echo.characters = static_cast<uint32_t>(count_characters(all));
  return echo;
}

}  // namespace reprise
