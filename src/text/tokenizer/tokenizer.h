// Text <-> token ids for one vocabulary. Immutable after create(); every function may be called from any thread.
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
  bool parse_special = true;  // turn the text of control and user-defined tokens into those tokens
  bool add_bos_eos = false;   // as the vocabulary's add_bos / add_eos say
};

class Tokenizer {
 public:
  // kUnsupported names the tokenizer model or pre-tokenizer that is not known; kInvalid a broken vocabulary.
  static Result<std::unique_ptr<Tokenizer>> create(const Vocabulary& vocabulary);
  virtual ~Tokenizer() = default;

  // Never fails: bytes that are no valid UTF-8 are encoded byte by byte.
  virtual std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const = 0;
  // The bytes a token stands for (they may end inside a UTF-8 character). Control tokens: their text.
  virtual std::string_view bytes(TokenId token) const = 0;
  virtual bool is_control(TokenId token) const = 0;  // not shown to users
  virtual size_t size() const = 0;                   // ids are 0 .. size() - 1

  // All bytes in order; control tokens are left out unless asked for.
  std::string decode(TokenSpan tokens, bool with_control = false) const;
};

}  // namespace reprise
