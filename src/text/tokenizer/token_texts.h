// Texts by token id, end to end in one string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/token.h"

namespace reprise {

class TokenTexts {
 public:
  void add(std::string_view text) {
    arena_ += text;
    begins_.push_back(arena_.size());
  }
  size_t size() const { return begins_.size() - 1; }
  bool holds(TokenId token) const { return token >= 0 && static_cast<size_t>(token) < size(); }
  std::string_view operator[](TokenId token) const {  // valid until the next add()
    const auto i = static_cast<size_t>(token);
    return std::string_view(arena_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }

 private:
  std::string arena_;
  std::vector<size_t> begins_{0};  // size() + 1
};

}  // namespace reprise
