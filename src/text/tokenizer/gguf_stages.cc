// Design: a GGUF file keeps SentencePiece's scores instead of merges. SentencePiece joins any neighbours
// whose joint text is a word, best score first; so every way to cut a word into two symbols is a merge, and
// its rank is the place of the word's score among all scores. Characters that occur in words only get ids
// past the vocabulary's.
#include "text/tokenizer/gguf_stages.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/character_map.h"
#include "text/tokenizer/control_tokens.h"
#include "text/tokenizer/pretokenizer_table.h"
#include "text/tokenizer/unigram_model.h"
#include "text/utf8.h"

namespace reprise {
namespace {

constexpr std::string_view kSpace = "\u2581";
constexpr size_t kMaxWord = 1024;  // bytes of a word that merges lead to

bool is_hidden(TokenType type) { return type == TokenType::kControl || type == TokenType::kUnknown; }
bool is_control(const Vocabulary& vocabulary, size_t id) {
  const std::string& text = vocabulary.tokens[id];
  return is_hidden(vocabulary.types[id]) ||
         (vocabulary.types[id] == TokenType::kUserDefined &&
          (looks_like_control(text) || is_markup_of(vocabulary.chat_template, text)));
}

Result<void> check_sizes(const Vocabulary& vocabulary) {
  constexpr size_t kMaxTokens = size_t{1} << 24;
  const size_t count = vocabulary.tokens.size();
  if (count == 0 || count > kMaxTokens)
    return invalid("the vocabulary has {} tokens; 1 to {} are possible", count, kMaxTokens);
  if (vocabulary.types.size() != count)
    return invalid("the vocabulary has {} tokens but {} token types", count, vocabulary.types.size());
  return {};
}

Result<std::vector<TokenId>> around(std::string_view key, bool wanted, std::optional<TokenId> token,
                                    size_t size) {
  if (!wanted || !token) return std::vector<TokenId>();
  if (*token < 0 || static_cast<size_t>(*token) >= size)
    return invalid("the vocabulary's {} token {} is not one of its {} tokens", key, *token, size);
  return std::vector{*token};
}

Normalizer spaces_written_out() { return Normalizer({normalize::sentencepiece(nullptr, false, false)}); }

// What all kinds have in common: added tokens, control tokens, what goes around a text. `spaces_first`: as
// SentencePiece does, user-defined tokens (some are runs of spaces) are looked for once spaces are U+2581.
Result<PipelineTokenizer::Stages> common_stages(const Vocabulary& vocabulary, bool spaces_first = false) {
  TRY(check_sizes(vocabulary));
  const size_t size = vocabulary.tokens.size();
  PipelineTokenizer::Stages stages;
  std::vector<AddedToken> added;
  for (size_t i = 0; i < size; ++i) {
    const std::string& text = vocabulary.tokens[i];
    const bool hidden = is_hidden(vocabulary.types[i]);
    const bool control = is_control(vocabulary, i);
    stages.hidden.push_back(hidden);
    if ((hidden || vocabulary.types[i] == TokenType::kUserDefined) && !text.empty())
      added.push_back({.text = text,
                       .id = static_cast<TokenId>(i),
                       .control = control,
                       .hidden = hidden,
                       .normalized = spaces_first && !control});
  }
  stages.added = AddedTokens(std::move(added), spaces_written_out());
  stages.prefix = TRY(around("bos", vocabulary.add_bos, vocabulary.bos, size));
  stages.suffix = TRY(around("eos", vocabulary.add_eos, vocabulary.eos, size));
  stages.bos = vocabulary.bos;
  stages.eos = vocabulary.eos;
  return stages;
}

using Ids = std::unordered_map<std::string_view, TokenId>;

Result<std::vector<Merger::Merge>> listed_merges(const Vocabulary& vocabulary, const Ids& ids) {
  const size_t count = vocabulary.merges.size();
  if (count > size_t{1} << 28) return invalid("the vocabulary has {} merges, too many to be true", count);
  std::vector<Merger::Merge> merges;
  merges.reserve(count);
  std::string joint;
  for (uint32_t rank = 0; rank < count; ++rank) {
    const std::string_view merge = vocabulary.merges[rank];
    const size_t space = merge.find(' ', 1);  // a token may begin with a space
    if (space == std::string_view::npos) return invalid("merge {} of the vocabulary is not two tokens", rank);
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    joint.assign(left).append(right);
    const auto left_id = ids.find(left);
    const auto right_id = ids.find(right);
    const auto joint_id = ids.find(joint);
    if (left_id == ids.end() || right_id == ids.end() || joint_id == ids.end())
      return invalid("merge {} of the vocabulary (\"{}\") names a token that it does not have", rank, merge);
    merges.push_back({left_id->second, right_id->second, joint_id->second, rank});
  }
  return merges;
}

// By token, the place of its score among all scores, best first.
Result<std::vector<uint32_t>> score_ranks(const Vocabulary& vocabulary) {
  std::vector<float> scores = vocabulary.scores;
  std::ranges::sort(scores, std::greater{});
  const auto [end, last] = std::ranges::unique(scores);
  scores.erase(end, last);
  std::vector<uint32_t> ranks;
  for (const float score : vocabulary.scores)
    ranks.push_back(
        static_cast<uint32_t>(std::ranges::lower_bound(scores, score, std::greater{}) - scores.begin()));
  return ranks;
}

Result<void> check_scores(const Vocabulary& vocabulary) {
  const size_t size = vocabulary.tokens.size();
  if (vocabulary.scores.size() != size)
    return invalid("the vocabulary has {} tokens but {} scores (tokenizer.ggml.scores)", size,
                   vocabulary.scores.size());
  for (size_t i = 0; i < size; ++i)
    if (std::isnan(vocabulary.scores[i]))
      return invalid("the vocabulary's token {} has no number for a score", i);
  if (vocabulary.unk && (*vocabulary.unk < 0 || static_cast<size_t>(*vocabulary.unk) >= size))
    return invalid("the vocabulary's unknown token {} is not one of its {} tokens", *vocabulary.unk, size);
  return {};
}

// Where characters of `text` begin, without 0.
std::vector<size_t> cuts(std::string_view text) {
  std::vector<size_t> at;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end; p += utf8_step(p, end).length)
    if (p > text.data()) at.push_back(static_cast<size_t>(p - text.data()));
  return at;
}

// What files without merges mean (Kimi K2's, which come from tiktoken's ranks): neighbours join if their
// bytes are a token, the lowest id first.
std::vector<Merger::Merge> id_merges(const TokenTexts& texts) {
  Ids ids;
  for (TokenId id = 0; texts.holds(id); ++id)
    if (!texts[id].empty()) ids.try_emplace(texts[id], id);
  std::vector<Merger::Merge> merges;
  for (const auto& [text, id] : ids) {
    if (text.size() > kMaxWord) continue;  // cut by the pre-tokenizer long before
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const auto left = ids.find(text.substr(0, cut));
      const auto right = ids.find(text.substr(cut));
      if (left != ids.end() && right != ids.end())
        merges.push_back({left->second, right->second, id, static_cast<uint32_t>(id)});
    }
  }
  return merges;
}

// SentencePiece's tokens: what decoders see, what they stand for, which are bytes and which are words.
struct Pieces {
  std::array<TokenId, 256> byte_tokens;
  std::vector<bool> word;  // by id
};

Pieces read_pieces(const Vocabulary& vocabulary, PipelineTokenizer::Stages& stages) {
  Pieces pieces;
  pieces.byte_tokens.fill(-1);
  std::vector<Decoder::Step> back{decode::replace(normalize::replace(std::string(kSpace), " ")),
                                  decode::byte_fallback(), decode::fuse()};
  if (vocabulary.add_space_prefix) back.push_back(decode::strip(" ", 1, 0));
  stages.decoder = Decoder(std::move(back));
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string& text = vocabulary.tokens[i];
    const auto byte =
        vocabulary.types[i] == TokenType::kByte ? byte_of_token(text) : std::optional<uint8_t>();
    if (byte) pieces.byte_tokens[*byte] = static_cast<TokenId>(i);
    pieces.word.push_back(!is_control(vocabulary, i) && !byte && !text.empty());
    stages.texts.add(text);
    stages.bytes.add(stages.decoder->middle(text));
  }
  return pieces;
}

}  // namespace

Result<PipelineTokenizer::Stages> byte_level_bpe_stages(const Vocabulary& vocabulary) {
  PipelineTokenizer::Stages stages = TRY(common_stages(vocabulary));
  const PretokenizerSpec& pre = *TRY(find_pretokenizer(vocabulary.pre));
  stages.pretokenizer = TRY(chain_pretokenizer(pre.chain));
  if (wants_nfc(vocabulary.pre)) stages.normalizer = Normalizer({normalize::unicode(normalize::Form::kNfc)});
  stages.any_bytes = stages.normalizer.empty();
  BpeModel::Definition bpe;
  bpe.byte_level = true;
  bpe.ignore_merges = pre.ignore_merges;
  Ids ids;  // by letters
  ids.reserve(vocabulary.tokens.size());
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string& text = vocabulary.tokens[i];
    const TokenType type = vocabulary.types[i];
    const bool word = type == TokenType::kNormal || type == TokenType::kByte;
    const auto bytes = bytes_of_letters(text);
    bpe.texts.add(word ? bytes.value_or("") : "");
    stages.bytes.add(bytes.value_or(text));  // added tokens too: DeepSeek's are bytes that no UTF-8 has
    if (word) ids.try_emplace(text, static_cast<TokenId>(i));
  }
  bpe.merges = vocabulary.merges.empty() ? id_merges(bpe.texts) : TRY(listed_merges(vocabulary, ids));
  stages.model = std::make_unique<const BpeModel>(std::move(bpe));
  return stages;
}

Result<PipelineTokenizer::Stages> sentencepiece_bpe_stages(const Vocabulary& vocabulary) {
  // Where a space goes before the text, one goes behind each user-defined token too, unlike SentencePiece
  // (docs/decisions/0010): each stretch between them is a text of its own.
  PipelineTokenizer::Stages stages = TRY(common_stages(vocabulary, !vocabulary.add_space_prefix));
  TRY(check_scores(vocabulary));
  const size_t size = vocabulary.tokens.size();
  const Pieces pieces = read_pieces(vocabulary, stages);
  BpeModel::Definition bpe;
  bpe.tokens = size;
  bpe.unknown = vocabulary.unk.value_or(-1);
  bpe.fuse_unknown = true;
  bpe.byte_fallback = true;
  bpe.byte_tokens = pieces.byte_tokens;
  Ids ids;  // of words, then of characters that are no words
  for (size_t i = 0; i < size; ++i) {
    bpe.texts.add(pieces.word[i] ? vocabulary.tokens[i] : "");
    if (pieces.word[i]) ids.try_emplace(vocabulary.tokens[i], static_cast<TokenId>(i));
  }
  const std::vector<uint32_t> ranks = TRY(score_ranks(vocabulary));
  for (size_t i = 0; i < size; ++i) {
    const std::string_view text = vocabulary.tokens[i];
    const auto found = ids.find(text);
    if (found == ids.end() || found->second != static_cast<TokenId>(i)) continue;
    if (text.size() > kMaxWord) {
      if (vocabulary.types[i] == TokenType::kUserDefined) continue;  // found as a whole, before merging
      return invalid("the vocabulary's token {} has {} bytes; at most {} are possible", i, text.size(),
                     kMaxWord);
    }
    const auto symbol_of = [&](std::string_view part) -> TokenId {
      if (const auto known = ids.find(part); known != ids.end()) return known->second;
      if (utf8_step(part.data(), part.data() + part.size()).length != part.size()) return -1;
      const auto id = static_cast<TokenId>(bpe.texts.size());
      bpe.texts.add(part);
      ids.emplace(part, id);
      return id;
    };
    for (const size_t cut : cuts(text)) {
      const TokenId left = symbol_of(text.substr(0, cut));
      const TokenId right = symbol_of(text.substr(cut));
      if (left >= 0 && right >= 0) bpe.merges.push_back({left, right, static_cast<TokenId>(i), ranks[i]});
    }
  }
  stages.model = std::make_unique<const BpeModel>(std::move(bpe));
  stages.normalizer = Normalizer({normalize::sentencepiece(nullptr, false, vocabulary.add_space_prefix)});
  return stages;
}

Result<PipelineTokenizer::Stages> sentencepiece_unigram_stages(const Vocabulary& vocabulary) {
  PipelineTokenizer::Stages stages = TRY(common_stages(vocabulary));
  TRY(check_scores(vocabulary));
  const Pieces pieces = read_pieces(vocabulary, stages);
  UnigramModel::Definition unigram;
  unigram.byte_fallback = true;
  unigram.byte_tokens = pieces.byte_tokens;
  unigram.unknown = vocabulary.unk.value_or(-1);
  double lowest = 0;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    if (!pieces.word[i]) continue;
    const bool user_defined = vocabulary.types[i] == TokenType::kUserDefined;
    const double score = user_defined ? 0 : vocabulary.scores[i];
    unigram.words.push_back({vocabulary.tokens[i], static_cast<TokenId>(i), score});
    if (vocabulary.types[i] == TokenType::kNormal) lowest = std::min(lowest, score);
  }
  unigram.unknown_score = lowest - 10;  // SentencePiece's penalty
  stages.model = std::make_unique<const UnigramModel>(unigram);
  std::shared_ptr<const CharacterMap> map;
  if (!vocabulary.precompiled_charsmap.empty())
    map = std::make_shared<const CharacterMap>(TRY(CharacterMap::parse(vocabulary.precompiled_charsmap)));
  stages.normalizer = Normalizer({normalize::sentencepiece(
      std::move(map), vocabulary.remove_extra_whitespaces, vocabulary.add_space_prefix)});
  return stages;
}

Result<PipelineTokenizer::Stages> character_bpe_stages(const Vocabulary& vocabulary) {
  PipelineTokenizer::Stages stages = TRY(common_stages(vocabulary, true));
  Vocabulary spaced = vocabulary;
  spaced.add_space_prefix = false;
  const Pieces pieces = read_pieces(spaced, stages);
  BpeModel::Definition bpe;
  bpe.unknown = vocabulary.unk.value_or(-1);
  bpe.fuse_unknown = true;
  bpe.byte_fallback = true;
  bpe.byte_tokens = pieces.byte_tokens;
  Ids ids;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    bpe.texts.add(pieces.word[i] ? vocabulary.tokens[i] : "");
    if (pieces.word[i]) ids.try_emplace(vocabulary.tokens[i], static_cast<TokenId>(i));
  }
  bpe.merges = TRY(listed_merges(vocabulary, ids));
  stages.model = std::make_unique<const BpeModel>(std::move(bpe));
  stages.normalizer = spaces_written_out();
  return stages;
}

}  // namespace reprise
