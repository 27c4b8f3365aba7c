// A tokenizer as a chain of stages: added tokens, normalizer, pre-tokenizer, model; and back: decoder. The
// stages are those of Hugging Face's tokenizer.json, whatever file they come from.
#pragma once

#include <memory>
#include <optional>

#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/decoder.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pretokenizer.h"
#include "text/tokenizer/token_model.h"
#include "text/tokenizer/token_texts.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {

class PipelineTokenizer final : public Tokenizer {
 public:
  struct Stages {
    AddedTokens added;
    Normalizer normalizer;
    Pretokenizer pretokenizer;
    std::unique_ptr<const TokenModel> model;
    bool any_bytes = false;  // the stages take text that is no UTF-8; else broken parts become U+FFFD first
    std::optional<Decoder> decoder;       // of `texts`; without one a text is its tokens' bytes
    TokenTexts texts;                     // by id, as the decoder takes them; empty where there is none
    TokenTexts bytes;                     // by id, what a token stands for in the middle of a text
    std::vector<bool> hidden;             // by id: not shown
    std::vector<TokenId> prefix, suffix;  // what add_bos_eos adds
    std::optional<TokenId> bos, eos;
  };

  explicit PipelineTokenizer(Stages stages) : stages_(std::move(stages)) {}

  std::vector<TokenId> encode(std::string_view text, EncodeOptions options) const override;
  std::string decode(TokenSpan tokens, bool with_hidden) const override;
  std::string_view bytes(TokenId token) const override;
  bool is_hidden(TokenId token) const override;
  bool is_added(TokenId token) const override { return stages_.added.holds(token); }
  size_t size() const override { return stages_.bytes.size(); }
  std::optional<TokenId> bos() const override { return stages_.bos; }
  std::optional<TokenId> eos() const override { return stages_.eos; }

 private:
  const Stages stages_;
};

}  // namespace reprise
