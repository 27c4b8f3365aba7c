// What the text side needs to know of the loaded model: data only, read from the model file once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/sampling_params.h"
#include "core/vocabulary.h"

namespace reprise {

struct ModelInfo {
  std::string name;              // general.name or the file's stem
  std::string architecture;      // "llama"
  uint32_t context_length = 0;   // tokens a sequence may hold here, after --context / rope scaling
  uint32_t trained_context = 0;  // tokens the model was trained for, by its file
  std::string rope_scaling;      // as applied: "none", "llama3", "yarn x4 over 8192"
  std::string kv_type;           // as kept: "bf16", "int8", "fp32"
  std::vector<std::pair<std::string, uint64_t>> weight_types;  // and bytes of each, most first
  std::vector<std::string> notes;  // one line each, for the log at start: context extended, keys ignored
  Vocabulary vocabulary;
  std::string chat_template;         // Jinja source, empty when the file has none
  std::vector<TokenId> stop_tokens;  // ids that end a generation: eos, eot and their like
  SamplingParams sampling;           // what the model's makers recommend: for what a request leaves out
  uint64_t fingerprint = 0;  // of weights' identity and KV-relevant settings: part of the cache's root key
};

}  // namespace reprise
