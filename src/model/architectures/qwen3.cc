// Qwen3 (Qwen team 2025): Qwen2 without biases, each head of q and k normalised before the rotation.
#include "model/architectures.h"
#include "model/gqa_decoder.h"

namespace reprise {
namespace {

Result<std::unique_ptr<Decoder>> load(const LoadContext& context) {
  return load_dense_decoder(context, {.head_norms = true}, {});
}

}  // namespace

const Architecture qwen3_architecture{"qwen3", nullptr, load};

}  // namespace reprise
