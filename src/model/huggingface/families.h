// The model families of Hugging Face that this build can run, as tables: what a config.json means in GGUF's
// keys and how tensors are called there. Names as in transformers' configuration_*.py and modeling_*.py.
#pragma once

#include <span>
#include <string_view>

namespace reprise {

// A field of config.json and the key it becomes, after the architecture's prefix.
struct ConfigField {
  std::string_view field, key;
};

// A tensor. In `from`, {} stands for a layer's number, and a second one for an expert's, whose tensors
// become a stack; `from` and `to` are without ".weight" or ".bias", which carry over, unless `from` is a
// whole name of another kind. Several with one `from` share it: they take of its last dimension every
// `every`th from `first` on; matrices that are `transposed` are stored by [input][output].
struct TensorName {
  std::string_view from, to;
  uint32_t every = 1, first = 0;
  bool transposed = false;
};

struct HuggingFaceFamily {
  std::string_view model_type;    // config.json
  std::string_view architecture;  // general.architecture
  // What transformers assumes of fields that config.json leaves out: JSON.
  std::string_view defaults;
  std::span<const ConfigField> fields = {};  // besides those of all families
  std::string_view activation = "silu";
  std::span<const TensorName> tensors = {};  // likewise, and before them
  bool experts = false;                      // has the tensors of expert_tensors() too
  bool unit_norms = false;                   // norm weights are stored less 1
  bool extra_layers = false;  // layers past num_hidden_layers, for predicting further tokens: not read
};

// Models of texts and images: config.json has the text model's fields in text_config, a family of its own. Of
// such a folder only the text model is read.
struct HuggingFaceWrapper {
  std::string_view model_type;
  std::string_view text;  // model_type of text_config, where that doesn't say
};

// Null: unknown.
const HuggingFaceFamily* family_named(std::string_view model_type);
std::span<const HuggingFaceFamily> families();
std::span<const HuggingFaceWrapper> wrappers();

std::span<const ConfigField> common_fields();
std::span<const TensorName> common_tensors();
std::span<const TensorName> expert_tensors();  // a router, and matrices expert by expert

}  // namespace reprise
