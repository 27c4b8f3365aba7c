// Llama (Touvron et al. 2023; Llama 3 herd, 2024), and what shares its shape: Mistral, SmolLM. Pre-norm
// layers of grouped-query attention and SwiGLU. GGUF files of this architecture store the rows of q and k
// permuted for rotation of neighbouring pairs, Hugging Face folders (rope.interleaved false) do not. The
// window of Mistral 7B v0.1 slides in every layer.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<void> configure(ModelKeys& keys, DecoderConfig& config) {
  config.interleaved = TRY(keys.get_or<bool>("rope.interleaved", true));
  return read_windows(keys, config, /*period=*/0);
}

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  return load_dense_decoder(context, {.interleaved = context.config.interleaved},
                            {.bias = presence(context.config.mlp_bias)});
}

}  // namespace

const Architecture llama_architecture{"llama", configure, load};

}  // namespace reprise
