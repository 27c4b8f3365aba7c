// Qwen3 mixtures of experts (Qwen team 2025; Qwen3-Coder): Qwen3's attention, and in every layer experts
// chosen by a softmax over all, their weights made to sum to one.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<void> configure(ModelKeys& keys, DecoderConfig& config) {
  config.experts = TRY(read_expert_config(
      keys, config.layers, {.router = {.score = RouterConfig::Score::kSoftmax, .normalise = true}}));
  return {};
}

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  return load_moe_decoder(context, {.head_norms = true}, {});
}

}  // namespace

const Architecture qwen3moe_architecture{"qwen3moe", configure, load};

}  // namespace reprise
