#include "text/tokenizer/merger.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace reprise {
namespace {

// BPE by its definition: look for the best pair in the whole word, join its first occurrence, again.
std::vector<std::string> merged_by_definition(
    std::vector<std::string> symbols, const std::map<std::pair<std::string, std::string>, size_t>& ranks) {
  for (;;) {
    size_t best = symbols.size();
    size_t best_rank = SIZE_MAX;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = ranks.find({symbols[i], symbols[i + 1]});
      if (found == ranks.end() || found->second >= best_rank) continue;
      best = i;
      best_rank = found->second;
    }
    if (best == symbols.size()) return symbols;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

// Random merges over an alphabet of three letters: many pairs overlap. Words on both sides of the border
// between the two algorithms.
TEST(Merger, MergesByDefinition) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    Vocabulary vocabulary;
    vocabulary.tokens = {"a", "b", "c"};
    std::map<std::pair<std::string, std::string>, size_t> ranks;
    for (int i = 0; i < 40; ++i) {
      const std::string left = vocabulary.tokens[random() % vocabulary.tokens.size()];
      const std::string right = vocabulary.tokens[random() % vocabulary.tokens.size()];
      const std::string joint = left + right;
      if (std::ranges::find(vocabulary.tokens, joint) == vocabulary.tokens.end())
        vocabulary.tokens.push_back(joint);
      ranks.try_emplace({left, right}, vocabulary.merges.size());
      vocabulary.merges.push_back(left + " " + right);
    }
    vocabulary.types.assign(vocabulary.tokens.size(), TokenType::kNormal);
    const auto tokens = TokenTable::create(vocabulary);
    const auto merger = Merger::create(vocabulary, *tokens);
    ASSERT_TRUE(merger.has_value()) << merger.error().message;
    for (size_t length = 1; length < 130; length += 1 + length / 8) {
      std::vector<std::string> symbols;
      std::string word;
      for (size_t i = 0; i < length; ++i) symbols.emplace_back(1, static_cast<char>('a' + random() % 3));
      for (const std::string& symbol : symbols) word += symbol;
      std::vector<TokenId> ids;
      merger->merge(word, ids);
      std::vector<std::string> texts;
      for (const TokenId id : ids) texts.emplace_back(tokens->bytes(id));
      ASSERT_EQ(texts, merged_by_definition(symbols, ranks)) << word;
    }
  }
}

}  // namespace
}  // namespace reprise
