// A prompt as a completion's answer repeats it: its text, and where in it each of its tokens begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/token.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {

struct PromptEcho {
  std::string text;               // valid UTF-8
  TokenId first;                  // token
  std::vector<uint32_t> offsets;  // of each token: complete characters of `text` before it
  uint32_t characters = 0;        // of `text`
};

// `text` is valid UTF-8, there is a token. Tokens without a part of the text (a begin token that was added, a
// space that the vocabulary puts before a text, what fills in the middle) begin where the one after them
// does.
PromptEcho make_echo(std::string text, TokenSpan tokens, const Tokenizer& tokenizer);

}  // namespace reprise
