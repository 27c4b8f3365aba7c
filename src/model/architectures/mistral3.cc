// Mistral 3: Ministral 3 and Devstral 2 (Mistral AI 2025). Llama's layers with YaRN, and queries that grow
// with their position's distance from the start (as in Llama 4). Rows of q and k lie as in
// llama.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<void> configure(ModelKeys& keys, DecoderConfig& config) {
  config.interleaved = TRY(keys.get_or<bool>("rope.interleaved", true));
  TRY(read_windows(keys, config, /*period=*/0));
  const char* kTemperature = "attention.temperature_scale";
  config.temperature_scale = TRY(keys.get_or<float>(kTemperature, 0));
  if (!(config.temperature_scale >= 0 && config.temperature_scale < 100))
    return invalid_param(keys.full(kTemperature), "key {} is {}, wanted 0 to 100", keys.full(kTemperature),
                         config.temperature_scale);
  config.temperature_length =
      TRY(keys.size("attention.temperature_length", UINT32_MAX, config.rope.original_context));

  // The key holds mscale_all_dim; mscale is 1 in all models (transformers' names).
  const char* kLogMultiplier = "rope.scaling.yarn_log_multiplier";
  const double all_dims = TRY(keys.get_or<double>(kLogMultiplier, 0));
  if (!(all_dims >= 0 && all_dims < 100))
    return invalid_param(keys.full(kLogMultiplier), "key {} is {}, wanted 0 to 100",
                         keys.full(kLogMultiplier), all_dims);
  if (all_dims != 0 && !config.rope.yarn_magnitude)
    config.rope.yarn_magnitude =
        yarn_magnitude(config.rope.factor, 1) / yarn_magnitude(config.rope.factor, all_dims);
  return {};
}

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  return load_dense_decoder(context, {.interleaved = context.config.interleaved}, {});
}

}  // namespace

const Architecture mistral3_architecture{"mistral3", configure, load};

}  // namespace reprise
