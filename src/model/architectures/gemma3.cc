// Gemma 3 (Gemma team 2025): norms before and after attention and MLP, each head of q and k normalised,
// GeGLU, and a window in five layers of six, which rotate by another base. Files hold the norms' weights with
// the 1 added that the model's definition adds.
#include <cmath>

#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

constexpr uint32_t kLayersOf27B = 62;

Result<void> configure(ModelKeys& keys, DecoderConfig& config) {
  TRY(read_windows(keys, config, /*period=*/6));
  // Layers with a window never look far: their positions are not scaled.
  config.window_rope = RopeConfig{.rotary = config.rope.rotary,
                                  .base = TRY(keys.get_or<double>("rope.freq_base_swa", 10000)),
                                  .original_context = config.rope.original_context};
  if (!(config.window_rope->base > 1))
    return invalid_param(keys.full("rope.freq_base_swa"), "key {} is not above 1",
                         keys.full("rope.freq_base_swa"));
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden));
  // The largest model scales by the share of a head in the hidden size; its files do not say so.
  if (!keys.has("attention.scale") && config.layers == kLayersOf27B)
    config.attention_scale =
        1 / std::sqrt(static_cast<float>(config.hidden) / static_cast<float>(config.heads));
  return {};
}

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  return load_dense_decoder(context, {.head_norms = true, .post_norm = true},
                            {.gating = kernels::Gating::kGelu, .post_norm = true});
}

}  // namespace

const Architecture gemma3_architecture{"gemma3", configure, load};

}  // namespace reprise
