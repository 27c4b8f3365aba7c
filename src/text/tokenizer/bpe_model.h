// Byte-pair encoding: over bytes (GPT-2 and its descendants) or over characters (SentencePiece's kind), with
// what Hugging Face's BPE model adds to it.
#pragma once

#include <array>
#include <memory>

#include "text/tokenizer/merger.h"
#include "text/tokenizer/token_model.h"
#include "text/tokenizer/token_texts.h"
#include "text/tokenizer/word_cache.h"
#include "text/tokenizer/word_table.h"

namespace reprise {

class BpeModel final : public TokenModel {
 public:
  struct Definition {
    // By id, what a token is a word for; empty: it is no word. With `byte_level` any bytes, else characters.
    // A text of one byte or character is a symbol that merging starts from; of equal texts the first counts.
    TokenTexts texts;
    std::vector<Merger::Merge> merges;
    bool byte_level = false;
    bool ignore_merges = false;  // a piece that is a word is that token, whether or not merges lead to it
    // Characters without a symbol (bytes, if byte_level): left out, or
    bool byte_fallback = false;  // these tokens of their bytes, if there is one for each byte, or else
    std::array<TokenId, 256> byte_tokens;  // -1: none
    TokenId unknown = -1;                  // this one, if there is one
    bool fuse_unknown = false;             // a run of unknown characters is one unknown token
    // Ids from here on are symbols that are no tokens: where one is left after merging, its characters are
    // treated as if they had no symbol.
    size_t tokens = SIZE_MAX;
    std::string continuing_prefix;  // what symbols have before them that do not begin a piece
    std::string word_suffix;        // what the last symbol of a piece has after it
  };

  explicit BpeModel(Definition definition);
  ~BpeModel() override;
  void encode(std::string_view text, bool at_start, const Pretokenizer& pretokenizer,
              std::vector<TokenId>& out) const override;

 private:
  class Encoder;
  class Symbols;
  class Seams;

  void encode_piece(std::string_view piece, std::vector<TokenId>& out) const;
  void encode_word(std::string_view word, std::vector<TokenId>& out) const;
  void merge_word(std::string_view word, std::vector<TokenId>& out) const;
  size_t symbols_of(std::string_view word, TokenId* symbols) const;
  void spell(std::string_view character, size_t begin, std::vector<TokenId>& out) const;
  bool has_bytes(std::string_view text) const;
  bool continues_unknown(size_t begin, const std::vector<TokenId>& out) const;
  WordTable one_token_words() const;

  Definition definition_;
  Merger merger_;
  std::array<TokenId, 256> byte_symbols_;      // byte_level
  std::unique_ptr<const Symbols> characters_;  // else
  std::unique_ptr<const Seams> seams_;         // where pieces may be cut further without a difference
  WordTable words_;
  WordCache cache_;
};

}  // namespace reprise
