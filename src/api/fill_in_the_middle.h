// Prompts that ask for the text between two others, for models whose vocabulary has tokens for it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/vocabulary.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {

struct FillInTheMiddle {
  TokenId prefix;             // what follows is the text before the gap
  TokenId suffix;             // what follows is the text after it
  TokenId middle;             // what follows is the gap: the model's to write
  std::vector<TokenId> ends;  // tokens with which models end the gap, besides those that end any text

  // Prefix, suffix, middle: the order these vocabularies were trained in. Both texts are files' contents:
  // nothing in them is a control token.
  std::vector<TokenId> prompt(const Tokenizer& tokenizer, std::vector<TokenId> before,
                              std::string_view after) const;
};

// The tokens that the model file names, else those of the names that model families give them; nothing when
// the vocabulary has none.
std::optional<FillInTheMiddle> find_fill_in_the_middle(const Tokenizer& tokenizer,
                                                       const Vocabulary& vocabulary);

}  // namespace reprise
