// The tokens of a byte-level vocabulary as bytes, checked.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/vocabulary.h"

namespace reprise {

class TokenTable {
 public:
  // kInvalid: no tokens, too many, types that do not belong to them.
  static Result<TokenTable> create(const Vocabulary& vocabulary);

  size_t size() const { return types_.size(); }
  TokenType type(TokenId token) const { return types_[static_cast<size_t>(token)]; }
  // Normal and byte tokens: what their letters stand for. All others: their text as it is.
  std::string_view bytes(TokenId token) const {
    const auto i = static_cast<size_t>(token);
    return std::string_view(arena_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }

 private:
  std::string arena_;
  std::vector<size_t> begins_;  // size() + 1
  std::vector<TokenType> types_;
};

}  // namespace reprise
