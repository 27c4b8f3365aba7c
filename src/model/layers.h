// The parts that decoder layers are made of. Each adds its result to the residual stream of a block of rows.
// A part owns its weights; scratch is the model's Workspace, shared by all layers. Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/table.h"
#include "model/config.h"
#include "model/weights.h"

namespace reprise {

// Rows that go through a layer together: consecutive rows of the batch, cut into slices of one sequence each.
struct RowBlock {
  float* hidden = nullptr;  // fp32 [rows][hidden size], read and added to
  uint32_t rows = 0;
  std::span<const kernels::Slice> slices;  // rows numbered from this block's first
  const float* cos = nullptr;              // [rows][rotary / 2]
  const float* sin = nullptr;
};

// What every layer needs and none owns.
struct Workspace {
  TaskPool* pool = nullptr;
  const kernels::Table* table = nullptr;
  kernels::KvShape kv;

  kernels::Buffer normed, wide, narrow,
      attention;  // fp32 rows: layer input, widest intermediate, attention output
  kernels::Input input;
};

struct Norm {
  std::vector<float> weight;
  float epsilon = 0;
  // Normalised rows in workspace.normed, and prepared as matrix input in workspace.input.
  void prepare(Workspace& workspace, const float* x, uint32_t rows) const;
};

// Grouped-query attention with rotary positions (Ainslie et al. 2023): x += O attention(rope(Q n), rope(K n),
// V n), n = norm(x).
struct GqaAttention {
  Norm norm;
  Projection qkv, output;
  uint32_t heads = 0, kv_heads = 0, head_dim = 0, rotary = 0;
  float scale = 0;
  bool interleaved = false;  // rotation pairs (2i, 2i + 1)

  static Result<GqaAttention> load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                                   bool interleaved);
  // `layer`: index in the KV pages.
  void forward(Workspace& workspace, const RowBlock& block, uint32_t layer) const;
};

// x += D (silu(G n) * U n), n = norm(x) (SwiGLU, Shazeer 2020).
struct GatedMlp {
  Norm norm;
  Projection gate_up, down;

  static Result<GatedMlp> load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer);
  void forward(Workspace& workspace, const RowBlock& block) const;
};

}  // namespace reprise
