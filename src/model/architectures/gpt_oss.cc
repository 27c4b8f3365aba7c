// gpt-oss (OpenAI 2025): attention with sinks and biases, over a window in every other layer, and experts
// with biases, chosen by their logits and weighed by a softmax over the chosen, with a clamped SwiGLU. Its
// YaRN does not round the bounds of its ramp.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<void> configure(ModelKeys& keys, DecoderConfig& config) {
  TRY(read_windows(keys, config, /*period=*/2));
  config.rope.whole_pairs = TRY(keys.get_or<bool>("rope.scaling.yarn_truncate", false));
  config.experts = TRY(
      read_expert_config(keys, config.layers, {.router = {.score = RouterConfig::Score::kSoftmaxOfChosen}}));
  return {};
}

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  constexpr auto kRequired = WeightLoader::Presence::kRequired;
  return load_moe_decoder(
      context, {.sinks = true, .qkv_bias = kRequired, .output_bias = kRequired},
      {.gating = kernels::Gating::kClampedSilu, .norm = "post_attention_norm", .bias = kRequired});
}

}  // namespace

const Architecture gpt_oss_architecture{"gpt-oss", configure, load};

}  // namespace reprise
