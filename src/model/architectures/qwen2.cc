// Qwen2 and Qwen2.5 (Qwen team 2024): Llama's layers with biases on q, k and v, rotating the halves of a
// head. Their window is off in every published model, and files of this architecture do not hold it.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  return load_dense_decoder(
      context, {.qkv_bias = WeightLoader::Presence::kRequired, .output_bias = WeightLoader::Presence::kNone},
      {});
}

}  // namespace

const Architecture qwen2_architecture{"qwen2", nullptr, load};

}  // namespace reprise
