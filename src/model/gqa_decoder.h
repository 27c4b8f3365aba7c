// A model whose layers are grouped-query attention and an MLP. The architectures of this shape are a choice
// of parts.
#pragma once

#include <memory>

#include "model/decoder.h"
#include "model/moe.h"

namespace reprise {

// Layers that are all alike.
Result<std::unique_ptr<Decoder>> load_dense_decoder(const LoadContext& context,
                                                    const GqaAttention::Parts& attention,
                                                    const GatedMlp::Parts& mlp);

// A mixture of experts in every layer after the leading dense ones.
Result<std::unique_ptr<Decoder>> load_moe_decoder(const LoadContext& context,
                                                  const GqaAttention::Parts& attention,
                                                  const MoeMlp::Parts& moe);

}  // namespace reprise
