#include "model/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace reprise {
namespace {

constexpr std::string_view kClosingNames[] = {
    "<|im_end|>", "<|eot_id|>",    "<|eom_id|>",      "<|end_of_text|>",       "<|endoftext|>",
    "<|end|>",    "<end_of_turn>", "<|end_of_turn|>", "<｜end▁of▁sentence｜>", "</s>",
    "[EOS]",      "<|eos|>",
};

Result<std::optional<TokenId>> read_id(const GgufFile& file, const std::string& key, size_t size) {
  const auto id = TRY(file.find<uint32_t>(key));
  if (!id || size == 0) return std::nullopt;
  if (*id >= size) return invalid_param(key, "key {} is {}, but there are {} tokens", key, *id, size);
  return static_cast<TokenId>(*id);
}

Result<const GgufArray*> read_strings(const GgufFile& file, std::string_view key) {
  const auto array = TRY(file.find<const GgufArray*>(key));
  if (!array) return nullptr;
  if ((*array)->raw.data() && (*array)->count > 0)
    return invalid_param(std::string(key), "key {} is an array of {}, wanted strings", key,
                         gguf_value_type_name((*array)->element));
  return *array;
}

Result<std::vector<TokenType>> read_types(const GgufFile& file, size_t size) {
  constexpr const char* kKey = "tokenizer.ggml.token_type";
  std::vector<TokenType> types(size, TokenType::kNormal);
  const auto array = TRY(file.find<const GgufArray*>(kKey));
  if (!array) return types;
  if ((*array)->raw.size() != (*array)->count * sizeof(int32_t) || (*array)->count != size)
    return invalid_param(kKey, "key {} is {} elements of {}, wanted {} of int32", kKey, (*array)->count,
                         gguf_value_type_name((*array)->element), size);
  for (size_t i = 0; i < size; ++i) {
    int32_t type;
    std::memcpy(&type, (*array)->raw.data() + i * sizeof type, sizeof type);
    if (type < 1 || type > 6)
      return invalid_param(kKey, "key {}: token {} has the unknown type {}", kKey, i, type);
    types[i] = static_cast<TokenType>(type);
  }
  return types;
}

}  // namespace

Result<Vocabulary> read_vocabulary(const GgufFile& file, uint32_t size) {
  Vocabulary v;
  const GgufArray* tokens = TRY(read_strings(file, "tokenizer.ggml.tokens"));
  if (!tokens || tokens->count == 0) return v;
  if (tokens->count != size)
    return invalid_param("tokenizer.ggml.tokens",
                         "key tokenizer.ggml.tokens has {} tokens, token_embd.weight {} rows", tokens->count,
                         size);
  v.model = TRY(file.require<std::string_view>("tokenizer.ggml.model"));
  v.pre = TRY(file.get_or<std::string_view>("tokenizer.ggml.pre", "default"));
  v.tokens.assign(tokens->strings.begin(), tokens->strings.end());
  v.types = TRY(read_types(file, size));
  if (const GgufArray* merges = TRY(read_strings(file, "tokenizer.ggml.merges")))
    v.merges.assign(merges->strings.begin(), merges->strings.end());
  v.bos = TRY(read_id(file, "tokenizer.ggml.bos_token_id", size));
  v.eos = TRY(read_id(file, "tokenizer.ggml.eos_token_id", size));
  v.eot = TRY(read_id(file, "tokenizer.ggml.eot_token_id", size));
  v.unk = TRY(read_id(file, "tokenizer.ggml.unknown_token_id", size));
  v.pad = TRY(read_id(file, "tokenizer.ggml.padding_token_id", size));
  // Without the key, the vocabularies that grew up with SentencePiece and Llama 3 prepend BOS (llama.cpp's
  // rule).
  const bool bos_by_default =
      v.model == "llama" || v.pre == "llama-bpe" || v.pre == "llama3" || v.pre == "llama-v3";
  v.add_bos = TRY(file.get_or<bool>("tokenizer.ggml.add_bos_token", bos_by_default));
  v.add_eos = TRY(file.get_or<bool>("tokenizer.ggml.add_eos_token", false));
  return v;
}

Result<std::vector<TokenId>> read_stop_tokens(const GgufFile& file, const Vocabulary& vocabulary) {
  std::set<TokenId> stops;
  const auto eom = TRY(read_id(file, "tokenizer.ggml.eom_token_id", vocabulary.tokens.size()));
  for (const auto& id : {vocabulary.eos, vocabulary.eot, eom})
    if (id) stops.insert(*id);
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i)
    if (vocabulary.types[i] == TokenType::kControl &&
        std::ranges::find(kClosingNames, std::string_view(vocabulary.tokens[i])) != std::end(kClosingNames))
      stops.insert(static_cast<TokenId>(i));
  return std::vector<TokenId>(stops.begin(), stops.end());
}

}  // namespace reprise
