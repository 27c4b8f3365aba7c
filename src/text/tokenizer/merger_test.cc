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
    std::vector<std::string> tokens = {"a", "b", "c"};
    std::map<std::pair<std::string, std::string>, size_t> ranks;
    std::vector<Merger::Merge> merges;
    for (uint32_t rank = 0; rank < 40; ++rank) {
      const auto left = static_cast<TokenId>(random() % tokens.size());
      const auto right = static_cast<TokenId>(random() % tokens.size());
      const std::string joint = tokens[static_cast<size_t>(left)] + tokens[static_cast<size_t>(right)];
      auto found = std::ranges::find(tokens, joint);
      if (found == tokens.end()) found = tokens.insert(tokens.end(), joint);
      ranks[{tokens[static_cast<size_t>(left)], tokens[static_cast<size_t>(right)]}] =
          rank;  // the last counts
      merges.push_back({left, right, static_cast<TokenId>(found - tokens.begin()), rank});
    }
    const Merger merger(merges);
    for (size_t length = 1; length < 130; length += 1 + length / 8) {
      std::vector<std::string> symbols;
      std::vector<TokenId> word;
      for (size_t i = 0; i < length; ++i) {
        word.push_back(static_cast<TokenId>(random() % 3));
        symbols.push_back(tokens[static_cast<size_t>(word.back())]);
      }
      std::vector<TokenId> ids;
      merger.merge(word, ids);
      std::vector<std::string> texts;
      for (const TokenId id : ids) texts.push_back(tokens[static_cast<size_t>(id)]);
      ASSERT_EQ(texts, merged_by_definition(symbols, ranks)) << "length " << length;
    }
  }
}

}  // namespace
}  // namespace reprise
