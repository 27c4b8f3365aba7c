#include "text/tokenizer/json_model.h"

#include <algorithm>
#include <array>
#include <limits>

namespace reprise {
namespace {

namespace json = boost::json;

constexpr size_t kMaxTokens = size_t{1} << 22;

Result<Tokens> read_bpe_vocabulary(const JsonNode& node) {
  Tokens tokens;
  for (const auto& [text, id] : *TRY(node.object())) {
    const std::string_view key(text.data(), text.size());
    const auto token = as_token_id(id);
    if (!token) return invalid("{}: the id of \"{}\" is not one", node.place(), key);
    tokens.set(*token, key);
    tokens.ids[key] = *token;
  }
  tokens.model_size = tokens.ids.size();
  return tokens;
}

// Every token written as <0x0A>, by its byte.
std::array<TokenId, 256> byte_tokens(const Tokens& tokens) {
  std::array<TokenId, 256> all;
  for (size_t byte = 0; byte < all.size(); ++byte)
    all[byte] = tokens.find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
  return all;
}

Result<std::vector<Merger::Merge>> read_merges(const JsonNode& node, const Tokens& tokens,
                                               std::string_view prefix) {
  const json::array& list = *TRY(node.array());
  if (list.size() > size_t{1} << 28)
    return invalid("{} has {} merges, too many to be true", node.place(), list.size());
  std::vector<Merger::Merge> merges;
  merges.reserve(list.size());
  std::string joint;
  uint32_t rank = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string_view left, right;
    if (const json::string* line = list[i].if_string()) {
      const std::string_view text = view(*line);
      if (text.starts_with("#version")) continue;
      const size_t space = text.find(' ');
      if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
        return invalid("{}[{}] is not two tokens", node.place(), i);
      left = text.substr(0, space);
      right = text.substr(space + 1);
    } else {
      const json::array* pair = list[i].if_array();
      if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
        return invalid("{}[{}] is not two tokens", node.place(), i);
      left = view((*pair)[0].get_string());
      right = view((*pair)[1].get_string());
    }
    if (right.size() < prefix.size())
      return invalid("{}[{}]: the second token has no prefix", node.place(), i);
    joint.assign(left).append(right.substr(prefix.size()));
    const auto left_id = tokens.find(left);
    const auto right_id = tokens.find(right);
    const auto joint_id = tokens.find(joint);
    if (!left_id || !right_id || !joint_id)
      return invalid("{}[{}] (\"{}\" \"{}\") names a token that the vocabulary does not have", node.place(),
                     i, left, right);
    merges.push_back({*left_id, *right_id, *joint_id, rank++});
  }
  return merges;
}

Result<ModelParts> read_bpe(const JsonNode& node) {
  ModelParts parts;
  parts.tokens = TRY(read_bpe_vocabulary(node["vocab"]));
  BpeModel::Definition& bpe = parts.bpe.emplace();
  bpe.ignore_merges = TRY(node["ignore_merges"].boolean_or(false));
  bpe.byte_fallback = TRY(node["byte_fallback"].boolean_or(false));
  bpe.fuse_unknown = TRY(node["fuse_unk"].boolean_or(false));
  bpe.continuing_prefix = TRY(node["continuing_subword_prefix"].string_or(""));
  bpe.word_suffix = TRY(node["end_of_word_suffix"].string_or(""));
  bpe.byte_tokens = byte_tokens(parts.tokens);
  if (const JsonNode dropout = node["dropout"]; !dropout.is_null() && TRY(dropout.number()) > 0)
    return fail(ErrorKind::kUnsupported, "{}: a tokenizer with dropout gives different tokens each time",
                dropout.place());
  if (const JsonNode unknown = node["unk_token"]; !unknown.is_null()) {
    const auto id = parts.tokens.find(TRY(unknown.string()));
    if (!id) return invalid("{} is no token of the vocabulary", unknown.place());
    bpe.unknown = *id;
  }
  bpe.merges = TRY(read_merges(node["merges"], parts.tokens, bpe.continuing_prefix));
  return parts;
}

Result<ModelParts> read_unigram(const JsonNode& node) {
  ModelParts parts;
  const JsonNode vocabulary = node["vocab"];
  const json::array& list = *TRY(vocabulary.array());
  if (list.size() > kMaxTokens) return invalid("{} has {} tokens, too many", vocabulary.place(), list.size());
  UnigramModel::Definition& unigram = parts.unigram.emplace();
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < list.size(); ++i) {
    const json::array* pair = list[i].if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_number())
      return invalid("{}[{}] is not a token and its score", vocabulary.place(), i);
    const auto id = static_cast<TokenId>(i);
    const std::string_view text = view((*pair)[0].get_string());
    const auto score = (*pair)[1].to_number<double>();
    parts.tokens.set(id, text);
    parts.tokens.ids[text] = id;
    unigram.words.push_back({text, id, score});
    lowest = std::min(lowest, score);
  }
  parts.tokens.model_size = list.size();
  unigram.unknown_score = lowest - 10;  // SentencePiece's penalty
  if (const JsonNode unknown = node["unk_id"]; !unknown.is_null()) {
    const int64_t id = TRY(unknown.integer());
    if (id < 0 || static_cast<size_t>(id) >= list.size())
      return invalid("{} is no token of the vocabulary", unknown.place());
    unigram.unknown = static_cast<TokenId>(id);
  }
  unigram.byte_fallback = TRY(node["byte_fallback"].boolean_or(false));
  unigram.byte_tokens = byte_tokens(parts.tokens);
  return parts;
}

}  // namespace

std::optional<TokenId> as_token_id(const json::value& value) {
  if (!value.is_int64() || value.get_int64() < 0 || static_cast<size_t>(value.get_int64()) >= kMaxTokens)
    return std::nullopt;
  return static_cast<TokenId>(value.get_int64());
}

Result<ModelParts> read_model(const JsonNode& node) {
  std::string_view type = TRY(node["type"].string_or(""));
  if (type.empty() && !node["merges"].is_null()) type = "BPE";  // files older than the field
  if (type == "BPE") return read_bpe(node);
  if (type == "Unigram") return read_unigram(node);
  return fail(ErrorKind::kUnsupported,
              "{}: the model \"{}\" is not supported; use a tokenizer with a BPE or Unigram model",
              node.place(), type);
}

}  // namespace reprise
