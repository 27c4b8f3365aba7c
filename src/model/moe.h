// The mixture-of-experts part of a decoder layer.
#pragma once

#include <optional>
#include <vector>

#include "model/layers.h"

namespace reprise {

// x += sum of w_i E_i(n) + S(n), n = norm(x): experts E_i and weights w_i chosen for each row by a router
// (Shazeer et al. 2017), S the experts that all rows share (DeepSeekMoE, 2024), neither weighted nor scaled.
// The router's logits and the experts have biases where the file has them, or where Parts say.
struct MoeMlp {
  struct Parts {
    kernels::Gating gating = kernels::Gating::kSilu;
    const char* norm = "ffn_norm";
    WeightLoader::Presence bias = WeightLoader::Presence::kOptional,  // of router and experts
        selection_bias = WeightLoader::Presence::kOptional;           // exp_probs_b
  };

  Norm norm;
  Projection logits;                  // of the router
  std::vector<float> selection_bias;  // or empty
  RouterConfig router;
  kernels::Experts experts;
  std::optional<GatedMlp> shared;

  static Result<MoeMlp> load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                             const Parts& parts);
  void forward(Workspace& workspace, const RowBlock& block) const;
};

}  // namespace reprise
