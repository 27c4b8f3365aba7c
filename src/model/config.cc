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
constexpr uint32_t kMaxContext = 1 << 24;

}  // namespace

Result<DecoderConfig> read_decoder_config(const ModelFile& file, ModelKeys& keys) {
  DecoderConfig c;
  c.architecture = TRY(file.require<std::string_view>("general.architecture"));
  c.layers = TRY(keys.size("block_count", kMaxLayers));
  c.hidden = TRY(keys.size("embedding_length", kMaxWidth));
  c.feed_forward = TRY(keys.size("feed_forward_length", kMaxWidth));
  c.heads = TRY(keys.size("attention.head_count", kMaxWidth));
  c.kv_heads = TRY(keys.size("attention.head_count_kv", kMaxWidth, c.heads));
  if (c.heads % c.kv_heads != 0)
    return invalid_param(keys.full("attention.head_count_kv"),
                         "key {}: {} query heads do not share {} key heads evenly",
                         keys.full("attention.head_count_kv"), c.heads, c.kv_heads);
  if (!keys.has("attention.key_length") && c.hidden % c.heads != 0)
    return invalid_param(keys.full("attention.head_count"), "key {}: {} does not divide {} ({})",
                         keys.full("attention.head_count"), c.heads, keys.full("embedding_length"), c.hidden);
  c.head_dim = TRY(keys.size("attention.key_length", kMaxWidth, std::max(1u, c.hidden / c.heads)));
  if (const uint32_t value_dim = TRY(keys.get_or<uint32_t>("attention.value_length", c.head_dim));
      value_dim != c.head_dim)
    return unsupported_key(
        keys.full("attention.value_length"),
        fmt::format("values of {} elements beside keys of {} are not supported", value_dim, c.head_dim));
  if (uint64_t{c.heads} * c.head_dim > kMaxWidth)
    return invalid_param(keys.full("attention.head_count"), "key {}: {} heads of {} elements are too wide",
                         keys.full("attention.head_count"), c.heads, c.head_dim);

  c.norm_epsilon = TRY(keys.require<float>("attention.layer_norm_rms_epsilon"));
  if (!(c.norm_epsilon >= 0 && c.norm_epsilon < 1))
    return invalid_param(keys.full("attention.layer_norm_rms_epsilon"), "key {} is {}, wanted 0 to 1",
                         keys.full("attention.layer_norm_rms_epsilon"), c.norm_epsilon);
  c.attention_scale = TRY(keys.get_or<float>("attention.scale", 0));
  if (c.attention_scale == 0)
    c.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.head_dim)));
  if (!TRY(keys.get_or<bool>("attention.causal", true)))
    return unsupported_key(keys.full("attention.causal"), "attention that is not causal is not supported");

  c.attention_bias = TRY(keys.find<bool>("attention.bias"));
  c.mlp_bias = TRY(keys.find<bool>("feed_forward.bias"));
  c.head_norms = TRY(keys.find<bool>("attention.head_norms"));
  c.trained_context = TRY(keys.size("context_length", kMaxContext));
  c.rope = TRY(read_rope_config(keys, c.head_dim, c.trained_context));

  const GgufTensor* embedding = file.tensor("token_embd.weight");
  if (!embedding) return invalid_param("token_embd.weight", "tensor token_embd.weight is missing");
  if (embedding->dimensions != 2 || embedding->size[1] > kMaxVocabulary)
    return invalid_param("token_embd.weight", "tensor token_embd.weight: wanted a matrix of at most {} rows",
                         kMaxVocabulary);
  c.vocabulary = static_cast<uint32_t>(embedding->size[1]);
  return c;
}

Result<void> read_windows(ModelKeys& keys, DecoderConfig& config, uint32_t period) {
  constexpr const char* kPattern = "attention.sliding_window_pattern";
  const uint32_t window = TRY(keys.get_or<uint32_t>("attention.sliding_window", 0));
  const auto flags = keys.is_array(kPattern) ? TRY(keys.find<const GgufArray*>(kPattern)) : std::nullopt;
  if (!flags) period = TRY(keys.get_or<uint32_t>(kPattern, period));
  if (flags && ((*flags)->raw.size() != config.layers || (*flags)->count != config.layers))
    return invalid_param(keys.full(kPattern), "key {} is {} elements of {}, wanted {} of bool",
                         keys.full(kPattern), (*flags)->count, gguf_value_type_name((*flags)->element),
                         config.layers);
  if (window == 0) return {};
  config.windows.resize(config.layers);
  for (uint32_t i = 0; i < config.layers; ++i) {
    const bool slides = flags ? (*flags)->raw[i] != std::byte{0} : period == 0 || (i + 1) % period != 0;
    if (slides) config.windows[i] = window;
  }
  return {};
}

Result<uint32_t> resolve_context(DecoderConfig& config, const LoadOptions& options) {
  // Some files name what the scaling was trained on, others what it reaches.
  uint64_t usable = std::max<uint64_t>(config.trained_context, static_cast<uint64_t>(config.rope.reach));
  if (!options.rope_scaling.empty()) {
    TRY(override_rope_scaling(config.rope, options.rope_scaling));
    usable = static_cast<uint64_t>(config.rope.reach);
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
