// Design: a piece is cut further where no merge can reach across (Seams), so that text without pre-tokenizer
// falls into words too. A word is looked up in the cache of recent words, then among the words that are one
// token, and only then merged. All three give what merging gives: a token is in words_ only if merging its
// own text ends in it (or merges are ignored), so results never depend on what was encoded before.
#include "text/tokenizer/bpe_model.h"

#include <algorithm>
#include <bitset>

#include "text/utf8.h"

namespace reprise {
namespace {

constexpr int kLog2CacheSlots = 15;  // 2 MiB: it should live in a core's L2
constexpr size_t kShort = 48;        // bytes: a word whose symbols fit on the stack

template <typename OnCharacter>
void for_each_character(std::string_view text, OnCharacter on) {  // on(code point, begin, end)
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Utf8Step step = utf8_step(p, end);
    const auto begin = static_cast<size_t>(p - text.data());
    on(step.code_point, begin, begin + step.length);
    p += step.length;
  }
}

}  // namespace

// The symbols of characters. With affixes a symbol's text is the character's with what is around it.
class BpeModel::Symbols {
 public:
  explicit Symbols(const Definition& definition)
      : prefix_(definition.continuing_prefix), suffix_(definition.word_suffix) {
    const TokenTexts& texts = definition.texts;
    for (TokenId id = 0; texts.holds(id); ++id) {
      const std::string_view text = texts[id];
      if (text.empty()) continue;
      if (affixes()) by_text_.try_emplace(text, id);
      const Utf8Step step = utf8_step(text.data(), text.data() + text.size());
      if (step.length != text.size() || step.code_point == Utf8Step::kBroken) continue;
      if (step.code_point >= by_code_point_.size()) by_code_point_.resize(step.code_point + 1, -1);
      TokenId& symbol = by_code_point_[step.code_point];
      if (symbol < 0) symbol = id;
    }
  }
  bool affixes() const { return !prefix_.empty() || !suffix_.empty(); }

  TokenId find(uint32_t code_point) const {
    return code_point < by_code_point_.size() ? by_code_point_[code_point] : -1;
  }
  TokenId find(const std::string& text) const {
    const auto found = by_text_.find(text);
    return found == by_text_.end() ? -1 : found->second;
  }
  std::string with_affixes(std::string_view character, bool first, bool last) const {
    return (first ? "" : prefix_) + std::string(character) + (last ? suffix_ : "");
  }

 private:
  const std::string& prefix_;
  const std::string& suffix_;
  std::vector<TokenId> by_code_point_;
  std::unordered_map<std::string_view, TokenId> by_text_;  // where there are affixes
};

// Which characters are never neighbours inside what a merge makes: there a piece can be cut. The set of
// neighbours is kept by hash, which may only add to it.
class BpeModel::Seams {
 public:
  explicit Seams(const Definition& definition) {
    std::vector<bool> seen(definition.texts.size());
    for (const Merger::Merge& merge : definition.merges) {
      if (seen[static_cast<size_t>(merge.joint)]) continue;
      seen[static_cast<size_t>(merge.joint)] = true;
      uint32_t previous = Utf8Step::kBroken;
      for_each_character(definition.texts[merge.joint], [&](uint32_t c, size_t begin, size_t) {
        if (begin > 0) neighbours_.set(slot_of(previous, c));
        previous = c;
      });
    }
  }
  bool may_join(uint32_t left, uint32_t right) const { return neighbours_[slot_of(left, right)]; }

 private:
  static constexpr int kLog2 = 21;
  static size_t slot_of(uint32_t left, uint32_t right) {
    return ((uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u) >> (64 - kLog2);
  }
  std::bitset<size_t{1} << kLog2> neighbours_;
};

BpeModel::BpeModel(Definition definition)
    : definition_(std::move(definition)), merger_(definition_.merges), words_({}), cache_(kLog2CacheSlots) {
  const TokenTexts& texts = definition_.texts;
  definition_.tokens = std::min(definition_.tokens, texts.size());
  if (definition_.byte_level) {
    byte_symbols_.fill(-1);
    for (TokenId id = 0; texts.holds(id); ++id) {
      if (texts[id].size() != 1) continue;
      TokenId& symbol = byte_symbols_[static_cast<uint8_t>(texts[id][0])];
      if (symbol < 0) symbol = id;
    }
  } else {
    characters_ = std::make_unique<const Symbols>(definition_);
    if (!definition_.ignore_merges && !characters_->affixes())
      seams_ = std::make_unique<const Seams>(definition_);
  }
  words_ = one_token_words();
  definition_.merges = {};  // the merger has them
}

BpeModel::~BpeModel() = default;

WordTable BpeModel::one_token_words() const {
  std::vector<WordTable::Entry> entries;
  std::vector<TokenId> merged;
  const bool affixes = characters_ && characters_->affixes();
  if (affixes && !definition_.ignore_merges) return WordTable(entries);
  for (TokenId id = 0; static_cast<size_t>(id) < definition_.tokens; ++id) {
    const std::string_view text = definition_.texts[id];
    if (text.empty()) continue;
    if (!definition_.ignore_merges) {
      merged.clear();
      merge_word(text, merged);
      if (merged.size() != 1 || merged[0] != id) continue;
    }
    entries.push_back({text, id});
  }
  return WordTable(entries);
}

class BpeModel::Encoder final : public PieceSink {
 public:
  Encoder(const BpeModel& model, std::vector<TokenId>& out) : model_(model), out_(out) {}

  void piece(std::string_view piece) override {
    if (model_.seams_) {
      model_.encode_piece(piece, out_);
    } else {
      model_.encode_word(piece, out_);
    }
  }

 private:
  const BpeModel& model_;
  std::vector<TokenId>& out_;
};

void BpeModel::encode(std::string_view text, bool at_start, const Pretokenizer& pretokenizer,
                      std::vector<TokenId>& out) const {
  Encoder encoder(*this, out);
  pretokenizer.split(text, at_start, encoder);
}

// Cuts at the seams. Not before a character that is no token: a run of unknown characters may become one
// token.
void BpeModel::encode_piece(std::string_view piece, std::vector<TokenId>& out) const {
  const auto is_token = [this](TokenId id) {
    return id >= 0 && static_cast<size_t>(id) < definition_.tokens;
  };
  size_t word = 0;
  uint32_t previous = Utf8Step::kBroken;
  for_each_character(piece, [&](uint32_t c, size_t begin, size_t) {
    if (begin > 0 && !seams_->may_join(previous, c) && is_token(characters_->find(c))) {
      encode_word(piece.substr(word, begin - word), out);
      word = begin;
    }
    previous = c;
  });
  encode_word(piece.substr(word), out);
}

void BpeModel::encode_word(std::string_view word, std::vector<TokenId>& out) const {
  if (word.size() > WordKey::kMaxBytes) {
    const TokenId whole = words_.find_long(word);
    if (whole >= 0) {
      out.push_back(whole);
    } else {
      merge_word(word, out);
    }
    return;
  }
  const WordKey key = WordKey::of(word);
  const uint64_t hash = key.hash();
  WordCache::Tokens cached;
  if (const size_t count = cache_.find(key, hash, cached); count > 0) {
    for (size_t i = 0; i < count; ++i) out.push_back(cached[i]);
    return;
  }
  const size_t before = out.size();
  if (const TokenId whole = words_.find(key, hash); whole >= 0) {
    out.push_back(whole);
  } else {
    merge_word(word, out);
  }
  const TokenSpan made = TokenSpan(out).subspan(before);
  if (!made.empty() && made.size() <= WordCache::kMaxTokens) cache_.insert(key, hash, made);
}

void BpeModel::merge_word(std::string_view word, std::vector<TokenId>& out) const {
  const size_t before = out.size();
  if (word.size() <= kShort && definition_.word_suffix.empty() && definition_.continuing_prefix.empty()) {
    TokenId symbols[kShort];
    merger_.merge(std::span(symbols, symbols_of(word, symbols)), out);
  } else {
    const size_t affixes = definition_.continuing_prefix.size() + definition_.word_suffix.size();
    std::vector<TokenId> symbols(word.size() * (1 + affixes));  // each byte one symbol at most
    symbols.resize(symbols_of(word, symbols.data()));
    merger_.merge(symbols, out);
  }
  if (definition_.tokens == definition_.texts.size()) return;
  const std::vector<TokenId> merged(out.begin() + static_cast<ptrdiff_t>(before), out.end());
  out.resize(before);
  for (const TokenId token : merged) {
    if (static_cast<size_t>(token) >= definition_.tokens) {
      spell(definition_.texts[token], before, out);
    } else if (token != definition_.unknown || !continues_unknown(before, out)) {
      out.push_back(token);
    }
  }
}

// Writes the symbols of `word`; returns how many.
size_t BpeModel::symbols_of(std::string_view word, TokenId* symbols) const {
  size_t count = 0;
  if (definition_.byte_level) {
    for (const char c : word) {
      const TokenId symbol = byte_symbols_[static_cast<uint8_t>(c)];
      if (symbol >= 0) {
        symbols[count++] = symbol;
      } else if (definition_.unknown >= 0 &&
                 !(definition_.fuse_unknown && count > 0 && symbols[count - 1] == definition_.unknown)) {
        symbols[count++] = definition_.unknown;
      }
    }
    return count;
  }
  bool unknown = false;  // an unknown token is due before the next symbol (but not before a byte's)
  const auto end_unknown = [&] {
    if (unknown) symbols[count++] = definition_.unknown;
    unknown = false;
  };
  const bool affixes = characters_->affixes();
  std::string text;
  for_each_character(word, [&](uint32_t c, size_t begin, size_t end) {
    TokenId symbol;
    std::string_view character = word.substr(begin, end - begin);
    if (affixes) {
      text = characters_->with_affixes(character, begin == 0, end == word.size());
      character = text;
      symbol = characters_->find(text);
    } else {
      symbol = characters_->find(c);
    }
    if (symbol >= 0) {
      end_unknown();
      symbols[count++] = symbol;
      return;
    }
    if (has_bytes(character)) {
      for (const char byte : character)
        symbols[count++] = definition_.byte_tokens[static_cast<uint8_t>(byte)];
      return;
    }
    if (definition_.unknown < 0) return;
    if (!definition_.fuse_unknown) end_unknown();
    unknown = true;
  });
  end_unknown();
  return count;
}

bool BpeModel::continues_unknown(size_t begin, const std::vector<TokenId>& out) const {
  return definition_.fuse_unknown && out.size() > begin && out.back() == definition_.unknown;
}

bool BpeModel::has_bytes(std::string_view text) const {
  return definition_.byte_fallback && std::ranges::all_of(text, [this](char byte) {
           return definition_.byte_tokens[static_cast<uint8_t>(byte)] >= 0;
         });
}

// A symbol that is no token, after merging; the word's tokens begin at out[begin].
void BpeModel::spell(std::string_view character, size_t begin, std::vector<TokenId>& out) const {
  if (has_bytes(character)) {
    for (const char byte : character) out.push_back(definition_.byte_tokens[static_cast<uint8_t>(byte)]);
  } else if (definition_.unknown >= 0 && !continues_unknown(begin, out)) {
    out.push_back(definition_.unknown);
  }
}

}  // namespace reprise
