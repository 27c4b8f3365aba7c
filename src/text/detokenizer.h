// Tokens to UTF-8 text, incrementally: what it returns is always whole characters.
#pragma once

#include <string>

#include "text/tokenizer/tokenizer.h"

namespace reprise {

class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  // Text that became complete with this token; bytes that can still become a character are held back. Bytes
  // that never can are replaced by U+FFFD, one per maximal invalid part (Unicode 15, 3.9, as Python's decoder
  // does). Hidden tokens give nothing.
  std::string push(TokenId token);
  // The text of a token by itself, hidden or not.
  std::string_view shown(TokenId token) const { return tokenizer_->bytes(token); }
  // The held-back rest at the end of a generation, with U+FFFD for what is incomplete.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  std::string held_;  // at most 3 bytes: the beginning of a character
};

}  // namespace reprise
