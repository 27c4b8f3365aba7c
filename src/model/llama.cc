// Llama (Touvron et al. 2023; Llama 3 herd, 2024), and what shares its shape: Mistral, SmolLM. Pre-norm
// layers of grouped-query attention and SwiGLU. Files of this architecture store the rows of q and k permuted
// for rotation of neighbouring pairs.
#include "model/architectures.h"

namespace reprise {
namespace {

class Llama final : public Decoder {
 public:
  struct Layer {
    GqaAttention attention;
    GatedMlp mlp;
  };

  static Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
    Ends ends = TRY(load_ends(context));
    std::vector<Layer> layers;
    for (uint32_t i = 0; i < context.config.layers; ++i) {
      Layer layer;
      layer.attention = TRY(GqaAttention::load(context.weights, context.config, i, /*interleaved=*/true));
      layer.mlp = TRY(GatedMlp::load(context.weights, context.config, i));
      layers.push_back(std::move(layer));
    }
    return std::make_unique<Llama>(context, std::move(ends), std::move(layers));
  }

  Llama(const LoadContext& context, Ends ends, std::vector<Layer> layers)
      : Decoder(context, std::move(ends)), layers_(std::move(layers)) {}

 private:
  void run_layer(uint32_t layer, const RowBlock& block) override {
    layers_[layer].attention.forward(workspace_, block, layer);
    layers_[layer].mlp.forward(workspace_, block);
  }

  std::vector<Layer> layers_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> load_llama(const LoadContext& context) { return Llama::load(context); }

}  // namespace reprise
