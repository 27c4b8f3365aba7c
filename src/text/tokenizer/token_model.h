// How a piece of text becomes tokens: the part of a tokenizer that was trained.
#pragma once

#include <string_view>
#include <vector>

#include "core/token.h"
#include "text/tokenizer/pretokenizer.h"

namespace reprise {

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // Appends the tokens of `text`, cut by `pretokenizer`, to `out`. `at_start`: a whole prompt begins here.
  // Any thread.
  virtual void encode(std::string_view text, bool at_start, const Pretokenizer& pretokenizer,
                      std::vector<TokenId>& out) const = 0;
};

}  // namespace reprise
