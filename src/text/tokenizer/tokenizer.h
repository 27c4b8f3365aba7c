// Text <-> token ids for one vocabulary. Immutable after create(); every function may be called from any
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/token.h"
#include "core/vocabulary.h"

namespace reprise {

struct EncodeOptions {
  // Turn the text of control tokens into those tokens. User-defined tokens (Hugging Face's added tokens that
  // are not special) are ordinary words of the vocabulary and are found in either case, as there with
  // split_special_tokens. Of special texts that start at one place the longest is taken.
  bool parse_special = true;
  bool add_bos_eos = false;  // as the vocabulary's add_bos / add_eos say
};

class Tokenizer {
 public:
  // kUnsupported names the tokenizer model or pre-tokenizer that is not known; kInvalid a broken vocabulary.
  static Result<std::unique_ptr<Tokenizer>> create(const Vocabulary& vocabulary);
  virtual ~Tokenizer() = default;

  // Never fails: bytes that are no valid UTF-8 are encoded byte by byte. No normalization: decode() gives the
  // text back, but for bytes that the vocabulary has no token for (some have none for control characters),
  // which are left out.
  virtual std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const = 0;
  // The bytes a token stands for (they may end inside a UTF-8 character). Control tokens: their text. An id
  // out of range stands for nothing.
  virtual std::string_view bytes(TokenId token) const = 0;
  virtual bool is_control(TokenId token) const = 0;  // not shown to users
  virtual size_t size() const = 0;                   // ids are 0 .. size() - 1

  // All bytes in order; control tokens are left out unless asked for.
  std::string decode(TokenSpan tokens, bool with_control = false) const;
};

}  // namespace reprise
