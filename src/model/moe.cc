#include "model/moe.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr size_t kSerialLogits = 4 << 10;  // routed on the calling thread

// NAME.weight of all experts, and NAME.bias.
Result<kernels::Matrix> load_stack(WeightLoader& weights, const RouterConfig& router, const std::string& name,
                                   uint32_t rows, uint32_t cols, WeightLoader::Presence presence,
                                   std::vector<float>& bias) {
  if (TRY(weights.has_part(name + ".bias", presence)))
    bias = TRY(weights.floats(name + ".bias", router.experts, rows));
  return weights.stack(name + ".weight", {router.experts, router.used}, rows, cols);
}

}  // namespace

Result<MoeMlp> MoeMlp::load(WeightLoader& weights, const DecoderConfig& config, uint32_t layer,
                            const Parts& parts) {
  const ExpertConfig& experts = config.experts;
  const uint32_t hidden = config.hidden, inner = experts.inner;
  MoeMlp moe;
  moe.router = experts.router;
  moe.norm = TRY(load_norm(weights, config, block_name(layer, parts.norm)));
  moe.logits = TRY(
      weights.projection({{block_name(layer, "ffn_gate_inp"), experts.router.experts}}, hidden, parts.bias));
  if (const std::string bias = block_name(layer, "exp_probs_b.bias");
      TRY(weights.has_part(bias, parts.selection_bias)))
    moe.selection_bias = TRY(weights.vector(bias, experts.router.experts));
  const auto stack = [&](const char* name, uint32_t rows, uint32_t cols, std::vector<float>& bias) {
    return load_stack(weights, experts.router, block_name(layer, name), rows, cols, parts.bias, bias);
  };
  moe.experts.gate = TRY(stack("ffn_gate_exps", inner, hidden, moe.experts.gate_bias));
  moe.experts.up = TRY(stack("ffn_up_exps", inner, hidden, moe.experts.up_bias));
  moe.experts.down = TRY(stack("ffn_down_exps", hidden, inner, moe.experts.down_bias));
  if (moe.experts.gate_bias.empty() != moe.experts.up_bias.empty() ||
      moe.experts.gate_bias.empty() != moe.experts.down_bias.empty())
    return invalid_param(block_name(layer, "ffn_gate_exps.bias"),
                         "tensors {}, ffn_up_exps.bias and ffn_down_exps.bias: some are missing",
                         block_name(layer, "ffn_gate_exps.bias"));
  moe.experts.gating = parts.gating;
  if (experts.shared > 0)
    moe.shared = TRY(GatedMlp::load(
        weights, config, layer,
        {.gating = parts.gating, .norm = nullptr, .suffix = "_shexp", .width = experts.shared * inner}));
  return moe;
}

void MoeMlp::forward(Workspace& w, const RowBlock& block) const {
  const auto hidden = static_cast<uint32_t>(norm.weight.size());
  norm.prepare(w, block.hidden, block.rows);
  float* scores = rows_of(w.wide, block.rows, router.experts);
  logits.apply(*w.pool, *w.table, w.input, scores, router.experts, kernels::Epilogue::kStore);

  const size_t choices = size_t{block.rows} * router.used;
  w.routes.reserve(choices * (sizeof(uint32_t) + sizeof(float)));
  auto* chosen = w.routes.as<uint32_t>();
  auto* weights = reinterpret_cast<float*>(chosen + choices);
  const auto route_row = [&](size_t row, int) {
    route(router, scores + row * router.experts, selection_bias, chosen + row * router.used,
          weights + row * router.used);
  };
  if (size_t{block.rows} * router.experts <= kSerialLogits) {
    for (uint32_t row = 0; row < block.rows; ++row) route_row(row, 0);
  } else {
    w.pool->run(block.rows, route_row);
  }

  w.table->experts(*w.pool, {.experts = &experts,
                             .x = w.normed.as<float>(),
                             .ldx = hidden,
                             .rows = block.rows,
                             .used = router.used,
                             .chosen = chosen,
                             .weights = weights,
                             .y = block.hidden,
                             .ldy = hidden,
                             .scratch = &w.experts});
  if (shared) shared->add(w, block);  // w.input still holds the normalised rows
}

}  // namespace reprise
