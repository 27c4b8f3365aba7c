// Sizes are bounded so that every product of two of them fits 64 bits and every row width fits 32: later code
// multiplies without checking.
#include "model/config.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace reprise {
namespace {

constexpr uint32_t kMaxWidth = 1 << 20;  // of a row: hidden, heads * head size, feed-forward
constexpr uint32_t kMaxVocabulary = 1 << 24;
constexpr uint32_t kMaxLayers = 4096;
constexpr uint32_t kMaxContext = 1 << 24;

// Keys whose presence, with another value than the neutral one, means a computation that is not implemented
// here.
struct Neutral {
  const char* name;
  double value;
};
constexpr Neutral kUnimplemented[] = {
    {"expert_count", 0},
    {"attention.max_alibi_bias", 0},
    {"attention.clamp_kqv", 0},
    {"logit_scale", 1},
    {"embedding_scale", 1},
    {"residual_scale", 1},
    {"attn_logit_softcapping", 0},
    {"final_logit_softcapping", 0},
    {"attention.temperature_scale", 0},
    {"use_parallel_residual", 0},
    {"attention.layer_norm_epsilon", 0},
    {"interleave_moe_layer_step", 0},
    {"attention.key_length_mla", 0},
    {"nextn_predict_layers", 0},
};
// Keys read here or without effect on the computation.
constexpr const char* kKnown[] = {
    "block_count",
    "embedding_length",
    "feed_forward_length",
    "vocab_size",
    "context_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "attention.scale",
    "attention.sliding_window",
    "attention.causal",
    "expert_used_count",
    "tensor_data_layout",
};

Result<uint32_t> size(const GgufFile& file, const std::string& key, uint32_t limit,
                      std::optional<uint32_t> fallback = {}) {
  const uint32_t value =
      fallback ? TRY(file.get_or<uint32_t>(key, *fallback)) : TRY(file.require<uint32_t>(key));
  if (value == 0 || value > limit)
    return invalid_param(key, "key {} is {}, wanted 1 to {}", key, value, limit);
  return value;
}

std::unexpected<Error> unsupported(const std::string& key, std::string why) {
  return std::unexpected(Error{ErrorKind::kUnsupported, fmt::format("key {}: {}", key, why), key});
}

Result<void> check_other_keys(const GgufFile& file, const std::string& prefix,
                              std::vector<std::string>& notes) {
  for (std::string_view key : file.keys()) {
    if (!key.starts_with(prefix)) continue;
    const std::string_view name = key.substr(prefix.size());
    if (name.starts_with("rope.") || std::ranges::find(kKnown, name) != std::end(kKnown)) continue;
    const auto* unimplemented =
        std::ranges::find_if(kUnimplemented, [&](const Neutral& n) { return name == n.name; });
    if (unimplemented == std::end(kUnimplemented)) {
      notes.push_back(fmt::format("key {} is not known and was ignored", printable(key)));
      continue;
    }
    const GgufValue& value = *file.value(key);
    const auto number = detail::convert<double>(value);
    const auto flag = detail::convert<bool>(value);
    if (!(number && *number == unimplemented->value) && !(flag && *flag == (unimplemented->value != 0)))
      return unsupported(std::string(key), fmt::format("{} is not supported", detail::describe(value)));
  }
  return {};
}

}  // namespace

Result<DecoderConfig> read_decoder_config(const GgufFile& file) {
  DecoderConfig c;
  c.architecture = TRY(file.require<std::string_view>("general.architecture"));
  const std::string prefix = c.architecture + ".";
  const auto key = [&](const char* name) { return prefix + name; };

  c.layers = TRY(size(file, key("block_count"), kMaxLayers));
  c.hidden = TRY(size(file, key("embedding_length"), kMaxWidth));
  c.feed_forward = TRY(size(file, key("feed_forward_length"), kMaxWidth));
  c.heads = TRY(size(file, key("attention.head_count"), kMaxWidth));
  c.kv_heads = TRY(size(file, key("attention.head_count_kv"), kMaxWidth, c.heads));
  if (c.heads % c.kv_heads != 0)
    return invalid_param(key("attention.head_count_kv"),
                         "key {}: {} query heads do not share {} key heads evenly",
                         key("attention.head_count_kv"), c.heads, c.kv_heads);
  if (!file.value(key("attention.key_length")) && c.hidden % c.heads != 0)
    return invalid_param(key("attention.head_count"), "key {}: {} does not divide {} ({})",
                         key("attention.head_count"), c.heads, key("embedding_length"), c.hidden);
  c.head_dim = TRY(size(file, key("attention.key_length"), kMaxWidth, std::max(1u, c.hidden / c.heads)));
  if (const uint32_t value_dim = TRY(file.get_or<uint32_t>(key("attention.value_length"), c.head_dim));
      value_dim != c.head_dim)
    return unsupported(
        key("attention.value_length"),
        fmt::format("values of {} elements beside keys of {} are not supported", value_dim, c.head_dim));
  if (uint64_t{c.heads} * c.head_dim > kMaxWidth)
    return invalid_param(key("attention.head_count"), "key {}: {} heads of {} elements are too wide",
                         key("attention.head_count"), c.heads, c.head_dim);

  c.norm_epsilon = TRY(file.require<float>(key("attention.layer_norm_rms_epsilon")));
  if (!(c.norm_epsilon >= 0 && c.norm_epsilon < 1))
    return invalid_param(key("attention.layer_norm_rms_epsilon"), "key {} is {}, wanted 0 to 1",
                         key("attention.layer_norm_rms_epsilon"), c.norm_epsilon);
  c.attention_scale = TRY(file.get_or<float>(key("attention.scale"), 0));
  if (c.attention_scale == 0)
    c.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.head_dim)));
  if (!TRY(file.get_or<bool>(key("attention.causal"), true)))
    return unsupported(key("attention.causal"), "attention that is not causal is not supported");

  c.trained_context = TRY(size(file, key("context_length"), kMaxContext));
  if (const uint32_t window = TRY(file.get_or<uint32_t>(key("attention.sliding_window"), 0));
      window != 0 && window < c.trained_context) {
    c.notes.push_back(
        fmt::format("the context is held to the model's attention window of {} tokens, where window and "
                    "full attention agree (the file says {} tokens)",
                    window, c.trained_context));
    c.trained_context = window;
  }
  c.rope = TRY(read_rope_config(file, prefix, c.head_dim, c.trained_context));
  TRY(check_other_keys(file, prefix, c.notes));

  const GgufTensor* embedding = file.tensor("token_embd.weight");
  if (!embedding) return invalid_param("token_embd.weight", "tensor token_embd.weight is missing");
  if (embedding->dimensions != 2 || embedding->size[1] > kMaxVocabulary)
    return invalid_param("token_embd.weight", "tensor token_embd.weight: wanted a matrix of at most {} rows",
                         kMaxVocabulary);
  c.vocabulary = static_cast<uint32_t>(embedding->size[1]);
  return c;
}

Result<uint32_t> resolve_context(DecoderConfig& config, const LoadOptions& options) {
  uint64_t usable = config.trained_context;
  if (!options.rope_scaling.empty()) {
    TRY(override_rope_scaling(config.rope, options.rope_scaling));
    usable = static_cast<uint64_t>(config.rope.original_context * config.rope.factor);
    config.notes.push_back(fmt::format("RoPE scaling asked: {}; trained for {} tokens, usable up to {}",
                                       describe(config.rope), config.trained_context, usable));
  }
  usable = std::min<uint64_t>(usable, kMaxContext);
  if (options.context == 0) return static_cast<uint32_t>(usable);
  if (options.context > kMaxContext)
    return invalid_param("context", "--context {}: at most {} tokens are possible", options.context,
                         kMaxContext);
  if (options.context > usable) {
    if (!options.past_trained_context)
      return invalid_param(
          "context",
          "--context {} is above the {} tokens that the model handles: add --rope-scaling yarn:{} (or "
          "linear:{}), or ask for less",
          options.context, usable,
          (uint64_t{options.context} + config.rope.original_context - 1) / config.rope.original_context,
          (uint64_t{options.context} + config.rope.original_context - 1) / config.rope.original_context);
    config.notes.push_back(
        fmt::format("context of {} tokens, past the {} that the model handles: for measuring only",
                    options.context, usable));
  }
  return options.context;
}

}  // namespace reprise
