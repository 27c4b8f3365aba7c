// SentencePiece's precompiled character map: a double-array trie (darts-clone) of byte strings, and what each
// is replaced by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprise {

class CharacterMap {
 public:
  struct Match {
    size_t length;  // bytes replaced
    std::string_view replacement;
  };

  // The bytes of a model's precompiled_charsmap. Untrusted: kInvalid if they cannot be one.
  static Result<CharacterMap> parse(std::string_view bytes);

  // The shortest and the longest entry that `text` begins with. Any thread.
  std::optional<Match> shortest(std::string_view text) const { return find(text, true); }
  std::optional<Match> longest(std::string_view text) const { return find(text, false); }

 private:
  std::optional<Match> find(std::string_view text, bool shortest) const;
  std::vector<uint32_t> units_;
  std::string replacements_;  // each ends with a NUL
};

}  // namespace reprise
