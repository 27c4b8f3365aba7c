// The parts that decoder layers are made of. Each adds its result to the residual stream of a block of rows.
// A part owns its weights; scratch is the model's Workspace, shared by all layers. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/table.h"
#include "model/config.h"
#include "model/weights.h"

namespace reprise {

// Cosines and sines of the rows' positions, [rows][rotary / 2].
struct Angles {
  const float *cos = nullptr, *sin = nullptr;
};

// Rows that go through a layer together: consecutive rows of the batch, cut into slices of one sequence each.
struct RowBlock {
  float* hidden = nullptr;  // fp32 [rows][hidden size], read and added to
  uint32_t rows = 0;
  std::span<const kernels::Slice> slices;  // rows numbered from this block's first
  Angles angles, window_angles;            // of the layers without and with a window
};

// What every layer needs and none owns.
struct Workspace {
  TaskPool* pool = nullptr;
  const kernels::Table* table = nullptr;
  kernels::KvShape kv;

  kernels::Buffer normed, wide, narrow,
      attention;                    // fp32 rows: layer input, widest intermediate, attention output
  kernels::Buffer routes, experts;  // chosen experts and their weights; scratch of the experts
  kernels::Input input;
};

// Memory for `rows` rows of `width` floats in a workspace's buffer; what it held is lost.
float* rows_of(kernels::Buffer& buffer, uint32_t rows, size_t width);
std::string block_name(uint32_t layer, const char* name);  // "blk.3.NAME"

struct Norm {
  std::vector<float> weight;  // empty: none
  float epsilon = 0;
  // Normalised rows in workspace.normed, and prepared as matrix input in workspace.input.
  void prepare(Workspace& workspace, const float* x, uint32_t rows) const;
};

// Of parts that a configuration may speak of.
inline WeightLoader::Presence presence(std::optional<bool> configured) {
  using enum WeightLoader::Presence;
  return configured ? (*configured ? kRequired : kNone) : kOptional;
}

Result<Norm> load_norm(WeightLoader& weights, const DecoderConfig& config, const std::string& name);

// hidden += y for y = P workspace.input, normalised by `post_norm` before it is added where there is one.
void add_projected(Workspace& workspace, const Projection& projection, const Norm& post_norm,
                   const RowBlock& block);

// Grouped-query attention with rotary positions (Ainslie et al. 2023): x += O attention(rope(Q n), rope(K n),
// V n), n = norm(x). Projections have biases as Parts say, else the configuration, else the file.
struct GqaAttention {
  // What an architecture has beyond that.
  struct Parts {
    bool interleaved = false;  // rotation pairs (2i, 2i + 1) instead of (i, i + rotary / 2)
    bool head_norms = false;   // attn_q_norm, attn_k_norm [head_dim]: of each head, before the rotation
    bool sinks = false;        // attn_sinks [heads]: a logit each, of a key without a value
    bool post_norm = false;    // post_attention_norm: of the result, before it is added to x
    WeightLoader::Presence qkv_bias = WeightLoader::Presence::kOptional,
                           output_bias = WeightLoader::Presence::kOptional;
  };

  Norm norm, post_norm;
  Projection qkv, output;
  std::vector<float> q_norm, k_norm, sinks;
  uint32_t heads = 0, kv_heads = 0, head_dim = 0, rotary = 0;
  uint32_t window = 0;  // keys that a row sees; 0 = all
  float scale = 0;
  float temperature_scale = 0;  // as in DecoderConfig
  uint32_t temperature_length = 0;
  bool interleaved = false;

  static Result<GqaAttention> load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                                   const Parts& parts);
  // `layer`: index in the KV pages.
  void forward(Workspace& workspace, const RowBlock& block, uint32_t layer) const;

 private:
  void heat(Workspace& workspace, const RowBlock& block, float* q, size_t ld) const;
};

// x += D gating(G n, U n), n = norm(x).
struct GatedMlp {
  struct Parts {
    kernels::Gating gating = kernels::Gating::kSilu;
    const char* norm = "ffn_norm";  // null: none
    bool post_norm = false;         // post_ffw_norm: of the result, before it is added to x
    const char* suffix = "";        // of the names of the matrices
    uint32_t width = 0;             // between up and down; 0: the configuration's feed_forward
    WeightLoader::Presence bias = WeightLoader::Presence::kOptional;
  };

  Norm norm, post_norm;
  Projection gate_up, down;
  kernels::Gating gating = kernels::Gating::kSilu;

  static Result<GatedMlp> load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                               const Parts& parts);
  void forward(Workspace& workspace, const RowBlock& block) const;
  // The same for n in workspace.input.
  void add(Workspace& workspace, const RowBlock& block) const;
};

}  // namespace reprise
