// Design: text -> special tokens and the text between them -> pieces (pretokenizer) -> tokens. A piece is
// looked up in the cache of recent words, then among the words that are one token, and only then merged. All
// three give what merging gives: a token is in words_ only if merging its own bytes ends in it (or the
// pre-tokenizer ignores merges), so results never depend on what was encoded before.
#include "text/tokenizer/bpe_tokenizer.h"

namespace reprise {
namespace {

constexpr int kLog2CacheSlots = 15;  // 2 MiB: it should live in a core's L2

bool is_text_token(TokenType type) { return type == TokenType::kNormal || type == TokenType::kByte; }
bool is_control_type(TokenType type) { return type == TokenType::kControl || type == TokenType::kUnknown; }

WordTable one_token_words(const TokenTable& tokens, const Merger& merger, bool ignore_merges) {
  std::vector<WordTable::Entry> entries;
  std::vector<TokenId> merged;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    const std::string_view bytes = tokens.bytes(token);
    if (bytes.empty() || !is_text_token(tokens.type(token))) continue;
    if (!ignore_merges) {
      merged.clear();
      merger.merge(bytes, merged);
      if (merged.size() != 1 || merged[0] != token) continue;
    }
    entries.push_back({bytes, token});
  }
  return WordTable(entries);
}

SpecialMatcher special_matcher(const TokenTable& tokens, bool with_control) {
  std::vector<SpecialMatcher::Entry> entries;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    const TokenType type = tokens.type(token);
    const bool wanted = type == TokenType::kUserDefined || (with_control && is_control_type(type));
    if (wanted && !tokens.bytes(token).empty()) entries.push_back({tokens.bytes(token), token});
  }
  return SpecialMatcher(std::move(entries));
}

Result<TokenId> added_token(std::string_view key, bool wanted, std::optional<TokenId> token, size_t size) {
  if (!wanted || !token) return -1;
  if (*token < 0 || static_cast<size_t>(*token) >= size) {
    return invalid("the vocabulary's {} token {} is not one of its {} tokens", key, *token, size);
  }
  return *token;
}

}  // namespace

BpeTokenizer::BpeTokenizer(TokenTable tokens, Pretokenizer pretokenizer, Merger merger)
    : tokens_(std::move(tokens)),
      pretokenizer_(std::move(pretokenizer)),
      merger_(std::move(merger)),
      words_(one_token_words(tokens_, merger_, pretokenizer_.ignore_merges())),
      special_(special_matcher(tokens_, true)),
      added_(special_matcher(tokens_, false)),
      cache_(kLog2CacheSlots) {}

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(const Vocabulary& vocabulary) {
  Pretokenizer pretokenizer = TRY(Pretokenizer::create(vocabulary.pre));
  TokenTable tokens = TRY(TokenTable::create(vocabulary));
  Merger merger = TRY(Merger::create(vocabulary, tokens));
  const TokenId bos = TRY(added_token("bos", vocabulary.add_bos, vocabulary.bos, tokens.size()));
  const TokenId eos = TRY(added_token("eos", vocabulary.add_eos, vocabulary.eos, tokens.size()));
  std::unique_ptr<BpeTokenizer> made(
      new BpeTokenizer(std::move(tokens), std::move(pretokenizer), std::move(merger)));
  made->bos_ = bos;
  made->eos_ = eos;
  return made;
}

class BpeTokenizer::Encoder final : public PieceSink {
 public:
  Encoder(const BpeTokenizer& tokenizer, std::vector<TokenId>& out) : tokenizer_(tokenizer), out_(out) {}

  void piece(std::string_view word) override {
    if (word.size() > WordKey::kMaxBytes) {
      const TokenId whole = tokenizer_.words_.find_long(word);
      if (whole >= 0) {
        out_.push_back(whole);
      } else {
        tokenizer_.merger_.merge(word, out_);
      }
      return;
    }
    const WordKey key = WordKey::of(word);
    const uint64_t hash = key.hash();
    WordCache::Tokens cached;
    if (const size_t count = tokenizer_.cache_.find(key, hash, cached); count > 0) {
      for (size_t i = 0; i < count; ++i) out_.push_back(cached[i]);
      return;
    }
    const size_t before = out_.size();
    if (const TokenId whole = tokenizer_.words_.find(key, hash); whole >= 0) {
      out_.push_back(whole);
    } else {
      tokenizer_.merger_.merge(word, out_);
    }
    const TokenSpan made = TokenSpan(out_).subspan(before);
    if (!made.empty() && made.size() <= WordCache::kMaxTokens) tokenizer_.cache_.insert(key, hash, made);
  }

 private:
  const BpeTokenizer& tokenizer_;
  std::vector<TokenId>& out_;
};

std::vector<TokenId> BpeTokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::vector<TokenId> out;
  out.reserve(text.size() / 3 + 2);
  if (options.add_bos_eos && bos_ >= 0) out.push_back(bos_);
  Encoder encoder(*this, out);
  const SpecialMatcher& special = options.parse_special ? special_ : added_;
  size_t done = 0;
  while (const auto match = special.find(text, done)) {
    pretokenizer_.split(text.substr(done, match->begin - done), encoder);
    out.push_back(match->token);
    done = match->end;
  }
  pretokenizer_.split(text.substr(done), encoder);
  if (options.add_bos_eos && eos_ >= 0) out.push_back(eos_);
  return out;
}

std::string_view BpeTokenizer::bytes(TokenId token) const {
  return token >= 0 && static_cast<size_t>(token) < tokens_.size() ? tokens_.bytes(token)
                                                                   : std::string_view{};
}

bool BpeTokenizer::is_control(TokenId token) const {
  return token >= 0 && static_cast<size_t>(token) < tokens_.size() && is_control_type(tokens_.type(token));
}

}  // namespace reprise
