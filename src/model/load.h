// Opens a model file and builds the model: reads and checks the metadata, repacks every weight once for the
// kernel table, and drops the file's pages. Adding an architecture: one file, one line in architectures.cc.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/task_pool.h"
#include "kernels/table.h"
#include "model/model.h"

namespace reprise {

struct LoadOptions {
  uint32_t context =
      0;  // tokens a sequence may hold; 0 = what the model was trained for, times the scaling asked
  std::string rope_scaling;  // "" = as the file says; "none", "linear:F", "yarn:F" with F > 1 replace it
  // Allows a context above the trained one without scaling. Only for measuring speed: the text is then
  // garbage.
  bool past_trained_context = false;
  kernels::KvType kv_type = kernels::KvType::kBF16;  // int8 halves the memory of a context
  uint32_t page_tokens = 32;  // positions in a KV page: a multiple of 16 that divides 512
};

struct LoadProgress {
  size_t bytes_done = 0, bytes_total = 0;  // of the file's weights
};

// `pool` and `table` must outlive the model. `progress` (may be empty) is called on this thread after each
// matrix. Errors: the file cannot be read or is malformed (kInvalid, kNotFound), a key, tensor or type this
// build does not support (kUnsupported, named), or the context asked needs --rope-scaling (kInvalid).
Result<std::unique_ptr<Model>> load_model(const std::filesystem::path& path, TaskPool& pool,
                                          const kernels::Table& table, const LoadOptions& options = {},
                                          const std::function<void(const LoadProgress&)>& progress = {});

}  // namespace reprise
