// What a file's metadata says of a model's experts.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "model/model_keys.h"
#include "model/router.h"

namespace reprise {

struct ExpertConfig {
  RouterConfig router;         // router.experts is 0: the model has none
  uint32_t inner = 0;          // elements between an expert's up and down matrices
  uint32_t shared = 0;         // experts that every row visits, stored as one of shared * inner
  uint32_t leading_dense = 0;  // layers before the first that has experts
};

// Reads the expert_* keys and leading_dense_block_count. `defaults` holds what the architecture means when a
// key is absent. Errors name the key.
Result<ExpertConfig> read_expert_config(ModelKeys& keys, uint32_t layers, ExpertConfig defaults);

}  // namespace reprise
