// Unigram language model (Kudo 2018): of all ways to write a piece as words the one whose scores add up to
// most, found by Viterbi's algorithm in one pass.
#pragma once

#include <array>

#include "text/tokenizer/byte_trie.h"
#include "text/tokenizer/token_model.h"

namespace reprise {

class UnigramModel final : public TokenModel {
 public:
  struct Word {
    std::string_view text;  // used by the constructor only; of equal texts the last counts
    TokenId id;
    double score;
  };
  struct Definition {
    std::vector<Word> words;
    double unknown_score = 0;              // of a character that no word writes
    TokenId unknown = -1;                  // a run of such characters is this token; -1: is left out; or
    bool byte_fallback = false;            // these tokens of its bytes, if there is one for each
    std::array<TokenId, 256> byte_tokens;  // -1: none
  };

  explicit UnigramModel(const Definition& definition);
  void encode(std::string_view text, bool at_start, const Pretokenizer& pretokenizer,
              std::vector<TokenId>& out) const override;

 private:
  class Encoder;
  ByteTrie trie_;  // values: indices of words_
  struct Scored {
    TokenId id;
    double score;
  };
  std::vector<Scored> words_;
  double unknown_score_;
  TokenId unknown_;
  bool byte_fallback_;
  std::array<TokenId, 256> byte_tokens_;
};

}  // namespace reprise
