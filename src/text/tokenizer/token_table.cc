#include "text/tokenizer/token_table.h"

#include "text/tokenizer/byte_alphabet.h"

namespace reprise {

Result<TokenTable> TokenTable::create(const Vocabulary& vocabulary) {
  constexpr size_t kMaxTokens = size_t{1} << 24;
  const size_t count = vocabulary.tokens.size();
  if (count == 0 || count > kMaxTokens) {
    return invalid("the vocabulary has {} tokens; 1 to {} are possible", count, kMaxTokens);
  }
  if (vocabulary.types.size() != count) {
    return invalid("the vocabulary has {} tokens but {} token types", count, vocabulary.types.size());
  }
  TokenTable table;
  table.types_ = vocabulary.types;
  table.begins_.reserve(count + 1);
  table.begins_.push_back(0);
  for (size_t i = 0; i < count; ++i) {
    const std::string& text = vocabulary.tokens[i];
    const TokenType type = table.types_[i];
    const bool letters = type == TokenType::kNormal || type == TokenType::kByte;
    table.arena_ += letters ? bytes_of_letters(text).value_or(text) : text;
    table.begins_.push_back(table.arena_.size());
  }
  return table;
}

}  // namespace reprise
