// Design: for each byte position the best path that ends there, as its last word; paths go from character to
// character. Equal sums: the path found first, hence the one whose last word is longer, stays.
#include "text/tokenizer/unigram_model.h"

#include <algorithm>

#include "base/check.h"
#include "text/utf8.h"

namespace reprise {
namespace {

ByteTrie trie_of(const std::vector<UnigramModel::Word>& words) {
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = words.size(); i-- > 0;)  // the last of equal texts first
    if (!words[i].text.empty()) entries.push_back({words[i].text, static_cast<int32_t>(i)});
  return ByteTrie(std::move(entries));
}

}  // namespace

UnigramModel::UnigramModel(const Definition& definition)
    : trie_(trie_of(definition.words)),
      unknown_score_(definition.unknown_score),
      unknown_(definition.unknown),
      byte_fallback_(definition.byte_fallback),
      byte_tokens_(definition.byte_tokens) {
  for (const Word& word : definition.words) words_.push_back({word.id, word.score});
}

class UnigramModel::Encoder final : public PieceSink {
 public:
  Encoder(const UnigramModel& model, std::vector<TokenId>& out) : model_(model), out_(out) {}

  void piece(std::string_view piece) override {
    find_best_paths(piece);
    // Back along the best path: the words, last first.
    words_.clear();
    for (size_t end = piece.size(); end > 0; end = best_[end].begin)
      words_.push_back({best_[end].begin, end, best_[end].word});
    for (size_t i = words_.size(); i-- > 0;) {
      if (words_[i].index != kUnknown) {
        out_.push_back(model_.words_[static_cast<size_t>(words_[i].index)].id);
        continue;
      }
      const size_t begin = words_[i].begin;
      while (i > 0 && words_[i - 1].index == kUnknown) --i;
      put_unknown(piece.substr(begin, words_[i].end - begin));
    }
  }

 private:
  static constexpr int32_t kNone = -2;
  static constexpr int32_t kUnknown = -1;
  struct Best {
    double score = 0;
    uint32_t begin = 0;
    int32_t word = kNone;  // index of the path's last word
  };
  struct PathWord {
    size_t begin, end;
    int32_t index;
  };

  void find_best_paths(std::string_view piece) {
    CHECK(piece.size() < UINT32_MAX, "a piece of {} bytes", piece.size());
    best_.assign(piece.size() + 1, {});
    const auto offer = [this](size_t begin, size_t end, double score, int32_t word) {
      Best& best = best_[end];
      if (best.word == kNone || score > best.score) best = {score, static_cast<uint32_t>(begin), word};
    };
    const char* const end = piece.data() + piece.size();
    for (size_t begin = 0; begin < piece.size();) {
      const double before = best_[begin].score;
      const size_t character = utf8_step(piece.data() + begin, end).length;
      bool known = false;  // is the character itself a word?
      const ByteTrie::Node* node = &model_.trie_.root();
      for (size_t i = begin; i < piece.size(); ++i) {
        node = model_.trie_.child(*node, static_cast<uint8_t>(piece[i]));
        if (node == nullptr) break;
        if (node->value < 0) continue;
        known |= i + 1 == begin + character;
        offer(begin, i + 1, before + model_.words_[static_cast<size_t>(node->value)].score, node->value);
      }
      if (!known) offer(begin, begin + character, before + model_.unknown_score_, kUnknown);
      begin += character;
    }
  }

  void put_unknown(std::string_view text) {
    const auto token_of = [this](char byte) { return model_.byte_tokens_[static_cast<uint8_t>(byte)]; };
    if (model_.byte_fallback_ && std::ranges::all_of(text, [&](char byte) { return token_of(byte) >= 0; })) {
      for (const char byte : text) out_.push_back(token_of(byte));
    } else if (model_.unknown_ >= 0) {
      out_.push_back(model_.unknown_);
    }
  }

  const UnigramModel& model_;
  std::vector<TokenId>& out_;
  std::vector<Best> best_;  // by where a path ends
  std::vector<PathWord> words_;
};

void UnigramModel::encode(std::string_view text, bool at_start, const Pretokenizer& pretokenizer,
                          std::vector<TokenId>& out) const {
  Encoder encoder(*this, out);
  pretokenizer.split(text, at_start, encoder);
}

}  // namespace reprise
