#include "model/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string_view>

namespace reprise {
namespace {

constexpr std::string_view kClosingNames[] = {
    "<|im_end|>", "<|eot_id|>",    "<|eom_id|>",      "<|end_of_text|>",       "<|endoftext|>",
    "<|end|>",    "<end_of_turn>", "<|end_of_turn|>", "<｜end▁of▁sentence｜>", "</s>",
    "[EOS]",      "<|eos|>",       "[EOT]",
};
// Where tokens of common names end a turn in some models only: GLM's next role, harmony's call and return.
struct ClosingName {
  std::string_view architecture, name;
};
constexpr ClosingName kClosingNamesOf[] = {
    {"glm4moe", "<|user|>"}, {"glm4moe", "<|observation|>"}, {"gpt-oss", "<|return|>"},
    {"gpt-oss", "<|call|>"}, {"minimax-m2", "[e~["},
};
// Where one of the common names ends less than a turn: harmony's <|end|> ends a message, and an answer has
// several.
constexpr ClosingName kNotClosing[] = {{"gpt-oss", "<|end|>"}};

bool among(std::span<const ClosingName> names, std::string_view token, std::string_view architecture) {
  return std::ranges::any_of(
      names, [&](const ClosingName& c) { return c.architecture == architecture && c.name == token; });
}

// An id that the model has no row for is none: no prompt can hold it and no answer can end with it.
Result<std::optional<TokenId>> read_id(const ModelFile& file, const std::string& key, uint32_t size,
                                       std::vector<std::string>& notes) {
  const auto id = TRY(file.find<uint32_t>(key));
  if (!id) return std::nullopt;
  if (*id < size) return static_cast<TokenId>(*id);
  notes.push_back(fmt::format("key {} is {}, but there are {} tokens: ignored", key, *id, size));
  return std::nullopt;
}

Result<const GgufArray*> read_strings(const ModelFile& file, std::string_view key) {
  const auto array = TRY(file.find<const GgufArray*>(key));
  if (!array) return nullptr;
  if ((*array)->raw.data() && (*array)->count > 0)
    return invalid_param(std::string(key), "key {} is an array of {}, wanted strings", key,
                         gguf_value_type_name((*array)->element));
  return *array;
}

Result<std::vector<TokenType>> read_types(const ModelFile& file, size_t size) {
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

Result<std::vector<float>> read_scores(const ModelFile& file, size_t size) {
  constexpr const char* kKey = "tokenizer.ggml.scores";
  const auto array = TRY(file.find<const GgufArray*>(kKey));
  if (!array) return std::vector<float>();
  if ((*array)->raw.size() != (*array)->count * sizeof(float) || (*array)->count != size)
    return invalid_param(kKey, "key {} is {} elements of {}, wanted {} of float32", kKey, (*array)->count,
                         gguf_value_type_name((*array)->element), size);
  std::vector<float> scores(size);
  std::memcpy(scores.data(), (*array)->raw.data(), size * sizeof(float));
  return scores;
}

// An array of bytes, signed or not.
Result<std::string> read_bytes(const ModelFile& file, const char* key) {
  const auto array = TRY(file.find<const GgufArray*>(key));
  if (!array) return std::string();
  if ((*array)->raw.size() != (*array)->count)
    return invalid_param(key, "key {} is an array of {}, wanted bytes", key,
                         gguf_value_type_name((*array)->element));
  return std::string(reinterpret_cast<const char*>((*array)->raw.data()), (*array)->raw.size());
}

}  // namespace

Result<Vocabulary> read_vocabulary(const ModelFile& file, uint32_t size, std::vector<std::string>& notes) {
  Vocabulary v;
  const auto id_of = [&](const char* key) { return read_id(file, key, size, notes); };
  v.chat_template = TRY(file.get_or<std::string_view>("tokenizer.chat_template", ""));
  const GgufArray* tokens = TRY(read_strings(file, "tokenizer.ggml.tokens"));
  if (!tokens || tokens->count == 0) {
    v.tokenizer_json = TRY(file.get_or<std::string_view>("tokenizer.huggingface.json", ""));
    if (!v.tokenizer_json.empty()) {
      v.tokenizer_config_json = TRY(file.get_or<std::string_view>("tokenizer.huggingface.config_json", ""));
      v.bos = TRY(id_of("tokenizer.ggml.bos_token_id"));
      v.eos = TRY(id_of("tokenizer.ggml.eos_token_id"));
      v.pad = TRY(id_of("tokenizer.ggml.padding_token_id"));
      v.add_bos = TRY(file.get_or<bool>("tokenizer.ggml.add_bos_token", false));
    }
    return v;
  }
  if (tokens->count != size)
    return invalid_param("tokenizer.ggml.tokens",
                         "key tokenizer.ggml.tokens has {} tokens, token_embd.weight {} rows", tokens->count,
                         size);
  v.model = TRY(file.require<std::string_view>("tokenizer.ggml.model"));
  v.pre = TRY(file.get_or<std::string_view>("tokenizer.ggml.pre", "default"));
  v.tokens.assign(tokens->strings.begin(), tokens->strings.end());
  v.types = TRY(read_types(file, size));
  v.scores = TRY(read_scores(file, size));
  if (const GgufArray* merges = TRY(read_strings(file, "tokenizer.ggml.merges")))
    v.merges.assign(merges->strings.begin(), merges->strings.end());
  v.bos = TRY(id_of("tokenizer.ggml.bos_token_id"));
  v.eos = TRY(id_of("tokenizer.ggml.eos_token_id"));
  v.eot = TRY(id_of("tokenizer.ggml.eot_token_id"));
  v.unk = TRY(id_of("tokenizer.ggml.unknown_token_id"));
  v.pad = TRY(id_of("tokenizer.ggml.padding_token_id"));
  v.fim_prefix = TRY(id_of("tokenizer.ggml.fim_pre_token_id"));
  v.fim_suffix = TRY(id_of("tokenizer.ggml.fim_suf_token_id"));
  v.fim_middle = TRY(id_of("tokenizer.ggml.fim_mid_token_id"));
  // Without the key, the vocabularies that grew up with SentencePiece and Llama 3 prepend BOS (llama.cpp's
  // rule).
  const bool bos_by_default =
      v.model == "llama" || v.pre == "llama-bpe" || v.pre == "llama3" || v.pre == "llama-v3";
  v.add_bos = TRY(file.get_or<bool>("tokenizer.ggml.add_bos_token", bos_by_default));
  v.add_eos = TRY(file.get_or<bool>("tokenizer.ggml.add_eos_token", v.model == "t5"));
  v.add_space_prefix = TRY(file.get_or<bool>("tokenizer.ggml.add_space_prefix", true));
  v.remove_extra_whitespaces = TRY(file.get_or<bool>("tokenizer.ggml.remove_extra_whitespaces", false));
  v.precompiled_charsmap = TRY(read_bytes(file, "tokenizer.ggml.precompiled_charsmap"));
  return v;
}

bool ends_generation(std::string_view token, std::string_view architecture) {
  if (among(kNotClosing, token, architecture)) return false;
  return std::ranges::find(kClosingNames, token) != std::end(kClosingNames) ||
         among(kClosingNamesOf, token, architecture);
}

Result<std::vector<TokenId>> read_stop_tokens(const ModelFile& file, const Vocabulary& vocabulary,
                                              uint32_t size, std::vector<std::string>& notes) {
  std::set<TokenId> stops;
  const auto eom = TRY(read_id(file, "tokenizer.ggml.eom_token_id", size, notes));
  for (const auto& id : {vocabulary.eos, vocabulary.eot, eom})
    if (id) stops.insert(*id);
  const auto architecture = TRY(file.get_or<std::string_view>("general.architecture", ""));
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i)
    if (vocabulary.types[i] == TokenType::kControl && ends_generation(vocabulary.tokens[i], architecture))
      stops.insert(static_cast<TokenId>(i));
  for (const char* key : {"tokenizer.ggml.eos_token_ids", "tokenizer.huggingface.closing_token_ids"})
    if (const auto list = TRY(file.find<const GgufArray*>(key)); list && (*list)->element == 5)
      for (size_t i = 0; i < (*list)->count; ++i) {
        int32_t id;
        std::memcpy(&id, (*list)->raw.data() + i * sizeof id, sizeof id);
        if (id >= 0 && static_cast<uint32_t>(id) < size)
          stops.insert(id);
        else
          notes.push_back(
              fmt::format("token {} would end an answer, but there are {} tokens: ignored", id, size));
      }
  std::erase_if(stops, [&](TokenId id) {
    return static_cast<size_t>(id) < vocabulary.tokens.size() &&
           among(kNotClosing, vocabulary.tokens[static_cast<size_t>(id)], architecture);
  });
  return std::vector<TokenId>(stops.begin(), stops.end());
}

}  // namespace reprise
