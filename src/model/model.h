// A loaded model: weights and forward pass. Knows nothing of requests, sampling or scheduling.
// All calls come from the engine thread; forward() spreads over the task pool given at load.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/kv.h"
#include "core/model_info.h"
#include "core/token.h"
#include "kernels/buffer.h"
#include "kernels/table.h"

namespace reprise {

// The residual stream of the rows between two calls of forward(), and scratch. One per chunk in flight;
// reusable.
struct Activations {
  kernels::Buffer hidden;  // fp32 [rows][Model::hidden_size()]
  uint32_t rows = 0;
};

// Consecutive rows of one sequence.
struct SequenceRows {
  TokenSpan tokens;       // the rows' tokens
  uint32_t position = 0;  // absolute position of the first
  std::array<std::span<std::byte* const>, kMaxKvGroups>
      pages;  // per group, page i covers positions [i * page_tokens, ...)
};

struct ForwardBatch {
  std::span<const SequenceRows> sequences;  // rows are numbered in this order
  uint32_t layer_begin = 0,
           layer_end = 0;  // [0, layers): the first call of a chunk starts at 0 and embeds its tokens
};

// What a token costs at least: the bytes and multiply-adds that any implementation must spend.
struct TokenCost {
  size_t weight_bytes = 0;   // read for one decoded token, output head included
  double macs_per_byte = 1;  // of the kernels that the model runs on (kernels::Table)
  size_t layer_bytes = 0;    // of all layers' matrices: read for many tokens at once
  uint64_t layer_macs = 0;   // in the layers' matrices, for every token
  uint64_t float_macs = 0;   // of these, in matrices that are kept as floats: by parameters
  uint64_t head_macs = 0;    // in the output head, for a token whose logits are wanted
  // For every token and each position it attends to, in layers that see all and in those that see the last
  // `window` ones: multiply-adds, and bytes of keys and values.
  uint64_t attention_macs = 0, window_macs = 0;
  size_t kv_bytes = 0, window_kv_bytes = 0;
  uint32_t window = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  virtual uint32_t layers() const = 0;
  virtual uint32_t vocabulary_size() const = 0;
  virtual uint32_t hidden_size() const = 0;  // floats of a row of Activations::hidden
  virtual KvSpec kv_spec() const = 0;
  virtual size_t weight_bytes() const = 0;             // resident
  virtual TokenCost token_cost() const { return {}; }  // zeros: not known
  // Runs the layers, reading and writing `activations` (resized when layer_begin is 0) and the pages.
  virtual void forward(const ForwardBatch& batch, Activations& activations) = 0;
  // Final norm and output head for some rows after the last layer: logits [rows.size()][vocabulary_size()].
  virtual void logits(const Activations& activations, std::span<const uint32_t> rows, float* out) = 0;
};

}  // namespace reprise
