// A byte-level vocabulary small enough to read in a failing test.
#pragma once

#include <string>
#include <vector>

#include "core/vocabulary.h"

namespace reprise {

// The 256 bytes in order, some merges, two control and two user-defined tokens; adds both <s> and </s>.
inline Vocabulary small_vocabulary(const std::string& pre) {
  const auto letter = [](int byte) {
    static const std::vector<std::string> letters = [] {
      std::vector<std::string> made;
      int next = 0x100;
      for (int b = 0; b < 256; ++b) {
        const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        const int c = printable ? b : next++;
        made.push_back(
            c < 0x80 ? std::string(1, static_cast<char>(c))
                     : std::string{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))});
      }
      return made;
    }();
    return letters[static_cast<size_t>(byte)];
  };
  Vocabulary made{.model = "gpt2", .pre = pre};
  for (int b = 0; b < 256; ++b) made.tokens.push_back(letter(b));
  const auto merge = [&](const std::string& left, const std::string& right) {
    made.merges.push_back(left + " " + right);
    made.tokens.push_back(left + right);
  };
  const std::string space = letter(' ');
  merge("a", "b");
  merge("b", "c");
  merge(space, "ab");
  merge("ab", "c");
  merge(space, space);
  merge(space + space, space + space);
  merge("a", "a");
  merge("aa", "aa");
  merge("1", "2");
  merge(letter('\r'), letter('\n'));
  merge(letter(0xF0), letter(0x9F));
  merge(letter(0xE4), letter(0xB8));
  merge(letter(0x80), letter(0x80));
  made.types.assign(made.tokens.size(), TokenType::kNormal);
  const auto special = [&](const std::string& text, TokenType type) {
    made.tokens.push_back(text);
    made.types.push_back(type);
    return static_cast<TokenId>(made.tokens.size() - 1);
  };
  made.bos = special("<s>", TokenType::kControl);
  made.eos = special("</s>", TokenType::kControl);
  special("<tool>", TokenType::kUserDefined);
  special("<tool><more>", TokenType::kUserDefined);
  made.add_bos = true;
  made.add_eos = true;
  return made;
}

}  // namespace reprise
