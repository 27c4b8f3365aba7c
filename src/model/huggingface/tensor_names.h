// Hugging Face's names of tensors as GGUF's, by the tables of families.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/huggingface/families.h"

namespace reprise {

struct GgufName {
  std::string name;
  std::optional<uint32_t> expert;          // its place in a stack of that name
  const TensorName* of_columns = nullptr;  // where it has only some of the columns, or matrices transposed
  bool operator==(const GgufName&) const = default;
};

// "model.layers.3.self_attn.q_proj.weight" -> "blk.3.attn_q.weight", or several names of what lies in one
// tensor. Without effect, and without a name, are buffers that older checkpoints hold, and layers from
// `layers` on in families that have such. Error: a name that is not known.
Result<std::vector<GgufName>> gguf_tensor_names(const HuggingFaceFamily& family, std::string_view name,
                                                uint64_t layers);
// Of a folder with more than a text model: the tensor's name in the text model alone; nothing for one of the
// other parts.
std::optional<std::string> name_in_text_model(std::string_view name);

}  // namespace reprise
