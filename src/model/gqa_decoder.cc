#include "model/gqa_decoder.h"

#include <variant>

namespace reprise {
namespace {

using Mlp = std::variant<GatedMlp, MoeMlp>;

struct Layer {
  GqaAttention attention;
  Mlp mlp;
};

class GqaDecoder final : public Decoder {
 public:
  // `load_mlp(layer)`: its Result<Mlp>.
  static Result<std::unique_ptr<Decoder>> load(const LoadContext& context,
                                               const GqaAttention::Parts& attention, const auto& load_mlp) {
    Ends ends = TRY(load_ends(context));
    std::vector<Layer> layers;
    for (uint32_t i = 0; i < context.config.layers; ++i) {
      Layer layer;
      layer.attention = TRY(GqaAttention::load(context.weights, context.config, i, attention));
      layer.mlp = TRY(load_mlp(i));
      layers.push_back(std::move(layer));
    }
    return std::make_unique<GqaDecoder>(context, std::move(ends), std::move(layers));
  }

  GqaDecoder(const LoadContext& context, Ends ends, std::vector<Layer> layers)
      : Decoder(context, std::move(ends)), layers_(std::move(layers)) {}

 private:
  void run_layer(uint32_t layer, const RowBlock& block) override {
    layers_[layer].attention.forward(workspace_, block, layer);
    std::visit([&](const auto& mlp) { mlp.forward(workspace_, block); }, layers_[layer].mlp);
  }

  std::vector<Layer> layers_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> load_dense_decoder(const LoadContext& context,
                                                    const GqaAttention::Parts& attention,
                                                    const GatedMlp::Parts& mlp) {
  return GqaDecoder::load(context, attention, [&](uint32_t layer) -> Result<Mlp> {
    return TRY(GatedMlp::load(context.weights, context.config, layer, mlp));
  });
}

Result<std::unique_ptr<Decoder>> load_moe_decoder(const LoadContext& context,
                                                  const GqaAttention::Parts& attention,
                                                  const MoeMlp::Parts& moe) {
  const GatedMlp::Parts dense = {.gating = moe.gating, .norm = moe.norm};
  return GqaDecoder::load(context, attention, [&](uint32_t layer) -> Result<Mlp> {
    if (layer < context.config.experts.leading_dense)
      return TRY(GatedMlp::load(context.weights, context.config, layer, dense));
    return TRY(MoeMlp::load(context.weights, context.config, layer, moe));
  });
}

}  // namespace reprise
