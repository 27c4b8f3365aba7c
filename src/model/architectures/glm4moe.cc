// GLM-4.5, 4.6 and 4.7 (Zhipu 2025): grouped-query attention that rotates half of each head, with biases on
// q, k and v and, in most, head norms; some leading layers with one MLP, then experts chosen by sigmoid and a
// selection bias beside shared ones. The last block of a file is for predicting further tokens and is not
// run.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<void> configure(ModelKeys& keys, DecoderConfig& config) {
  const uint32_t extra = TRY(keys.get_or<uint32_t>("nextn_predict_layers", 0));
  if (extra >= config.layers)
    return invalid_param(keys.full("nextn_predict_layers"), "key {} is {}, wanted less than the {} layers",
                         keys.full("nextn_predict_layers"), extra, config.layers);
  config.layers -= extra;
  config.unused_layers = extra;
  if (extra > 0)
    config.notes.push_back(
        fmt::format("the last {} blocks, which predict further tokens, are not used", extra));
  config.experts = TRY(read_expert_config(
      keys, config.layers, {.router = {.score = RouterConfig::Score::kSigmoid, .normalise = true}}));
  return {};
}

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  const DecoderConfig& config = context.config;
  for (uint32_t i = config.layers; i < config.layers + config.unused_layers; ++i)
    context.weights.skip(block_name(i, ""));
  using enum WeightLoader::Presence;
  const bool head_norms = config.head_norms.value_or(context.weights.has("blk.0.attn_q_norm.weight"));
  return load_moe_decoder(
      context, {.head_norms = head_norms, .qkv_bias = presence(config.attention_bias), .output_bias = kNone},
      {.norm = "post_attention_norm", .selection_bias = kRequired});
}

}  // namespace

const Architecture glm4moe_architecture{"glm4moe", configure, load};

}  // namespace reprise
