// Byte-level BPE (GPT-2 and its descendants): GGUF's tokenizer model "gpt2".
#pragma once

#include <memory>

#include "text/tokenizer/merger.h"
#include "text/tokenizer/pretokenizer.h"
#include "text/tokenizer/special_matcher.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/word_cache.h"
#include "text/tokenizer/word_table.h"

namespace reprise {

class BpeTokenizer final : public Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> create(const Vocabulary& vocabulary);

  std::vector<TokenId> encode(std::string_view text, EncodeOptions options) const override;
  std::string_view bytes(TokenId token) const override;
  bool is_control(TokenId token) const override;
  size_t size() const override { return tokens_.size(); }

 private:
  class Encoder;
  BpeTokenizer(TokenTable tokens, Pretokenizer pretokenizer, Merger merger);

  TokenTable tokens_;
  Pretokenizer pretokenizer_;
  Merger merger_;
  WordTable words_;
  SpecialMatcher special_;  // control, unknown and user-defined tokens
  SpecialMatcher added_;    // user-defined tokens only
  TokenId bos_ = -1;        // where it is to be added
  TokenId eos_ = -1;
  WordCache cache_;
};

}  // namespace reprise
