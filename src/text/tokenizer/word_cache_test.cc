#include "text/tokenizer/word_cache.h"

#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reprise {
namespace {

// The tokens a word must have, so that any mixture of two words shows.
std::vector<TokenId> tokens_of(const std::string& word) {
  std::vector<TokenId> tokens;
  for (size_t i = 0; i < 1 + word.size() % WordCache::kMaxTokens; ++i) {
    tokens.push_back(static_cast<TokenId>(std::hash<std::string>{}(word) >> 33) + static_cast<TokenId>(i));
  }
  return tokens;
}

std::vector<std::string> words(size_t count) {
  std::mt19937 random(5);
  std::vector<std::string> made;
  for (size_t i = 0; i < count; ++i) {
    std::string word;
    for (size_t n = 1 + random() % WordKey::kMaxBytes; n > 0; --n) word += static_cast<char>(random() % 4);
    made.push_back(word);
  }
  return made;
}

TEST(WordKey, IsEqualForEqualWordsOnly) {
  std::vector<std::string> all;
  for (size_t n = 1; n <= WordKey::kMaxBytes; ++n) {
    all.emplace_back(n, '\0');
    for (size_t i = 0; i < n; ++i) {  // each byte counts
      all.emplace_back(n, '\0');
      all.back()[i] = 1;
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(WordKey::of(all[i]) == WordKey::of(all[j]), all[i] == all[j]) << i << " " << j;
    }
  }
}

TEST(WordCache, GivesBackWhatWasPutOrNothing) {
  const WordCache cache(6);
  size_t hits = 0;
  for (const std::string& word : words(20000)) {
    const WordKey key = WordKey::of(word);
    WordCache::Tokens found;
    if (const size_t count = cache.find(key, key.hash(), found); count > 0) {
      EXPECT_EQ(std::vector<TokenId>(found.begin(), found.begin() + static_cast<ptrdiff_t>(count)),
                tokens_of(word));
      ++hits;
    }
    cache.insert(key, key.hash(), tokens_of(word));
    ASSERT_EQ(cache.find(key, key.hash(), found), tokens_of(word).size());
  }
  EXPECT_GT(hits, 100u);
}

TEST(WordCache, NeverMixesWordsWhenThreadsWriteTheSamePlaces) {
  const WordCache cache(2);
  const std::vector<std::string> all = words(64);
  std::atomic<size_t> wrong = 0;
  std::atomic<size_t> hits = 0;
  {
    std::vector<std::jthread> threads;
    for (uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 50000; ++i) {
          const std::string& word = all[random() % all.size()];
          const WordKey key = WordKey::of(word);
          WordCache::Tokens found;
          if (const size_t count = cache.find(key, key.hash(), found); count > 0) {
            ++hits;
            if (std::vector<TokenId>(found.begin(), found.begin() + static_cast<ptrdiff_t>(count)) !=
                tokens_of(word))
              ++wrong;
          } else {
            cache.insert(key, key.hash(), tokens_of(word));
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(hits, 0u);
}

}  // namespace
}  // namespace reprise
