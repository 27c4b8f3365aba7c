// config.json and generation_config.json as GGUF's metadata.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"
#include "model/huggingface/families.h"
#include "model/model_file.h"

namespace reprise {

struct HuggingFaceConfig {
  const HuggingFaceFamily* family = nullptr;
  bool nested = false;  // the text model is a part of the folder's
  uint64_t layers = 0;
  bool tied = false;  // the output head is the embedding, whatever else the files hold
};

// Adds to `file` the keys that the configuration means, and the tensor rope_freqs.weight where it has Llama
// 3's frequencies. Errors name the field: missing, of another type, or asking for a computation or
// quantisation that is not supported.
Result<HuggingFaceConfig> read_huggingface_config(const boost::json::object& config, ModelFile& file);

// Adds sampling defaults (general.sampling.*) and the ids that end a generation: bos_token_id, and
// eos_token_id as a number or a list. `config` is config.json, which generation_config.json overrides; null:
// there is none.
Result<void> read_generation_config(const boost::json::object* generation, const boost::json::object& config,
                                    ModelFile& file);

// Adds a key, which outlives the file, with an array of int32. Ids are below 2^31.
void add_token_ids(std::string_view key, std::span<const uint64_t> ids, ModelFile& file);

}  // namespace reprise
