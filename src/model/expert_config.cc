#include "model/expert_config.h"

namespace reprise {
namespace {

constexpr uint32_t kMaxInner = 1 << 20;

Result<RouterConfig::Score> read_score(ModelKeys& keys, RouterConfig::Score fallback) {
  constexpr const char* kKey = "expert_gating_func";
  switch (const uint32_t id = TRY(keys.get_or<uint32_t>(kKey, 0))) {
    case 0:
      return fallback;
    case 1:
      return RouterConfig::Score::kSoftmax;
    case 2:
      return RouterConfig::Score::kSigmoid;
    case 3:
      return RouterConfig::Score::kSoftmaxOfChosen;
    default:
      return unsupported_key(
          keys.full(kKey),
          fmt::format("{} is not supported (1: softmax, 2: sigmoid, 3: softmax of the chosen)", id));
  }
}

}  // namespace

Result<ExpertConfig> read_expert_config(ModelKeys& keys, uint32_t layers, ExpertConfig c) {
  RouterConfig& r = c.router;
  r.experts = TRY(keys.size("expert_count", RouterConfig::kMaxExperts));
  r.used = TRY(keys.size("expert_used_count", r.experts));
  c.inner = TRY(keys.size("expert_feed_forward_length", kMaxInner));
  r.score = TRY(read_score(keys, r.score));
  r.normalise = TRY(keys.get_or<bool>("expert_weights_norm", r.normalise));
  // Files of models without a scale hold 0 or 1.
  r.scale = TRY(keys.get_or<float>("expert_weights_scale", r.scale));
  if (r.scale == 0) r.scale = 1;
  r.groups = TRY(keys.get_or<uint32_t>("expert_group_count", r.groups));
  if (r.groups <= 1) {
    r.groups = 1;
    TRY(keys.get_or<uint32_t>("expert_group_used_count", 1));
  } else {
    if (r.experts % r.groups != 0 || r.experts / r.groups < 2)
      return invalid_param(keys.full("expert_group_count"),
                           "key {} is {}: {} experts do not make such groups",
                           keys.full("expert_group_count"), r.groups, r.experts);
    r.groups_used = TRY(keys.size("expert_group_used_count", r.groups, r.groups));
    if (r.used > r.experts / r.groups * r.groups_used)
      return invalid_param(keys.full("expert_group_used_count"),
                           "key {} is {}: {} experts are not in so few groups",
                           keys.full("expert_group_used_count"), r.groups_used, r.used);
  }
  c.shared = TRY(keys.get_or<uint32_t>("expert_shared_count", c.shared));
  if (c.shared > kMaxInner / c.inner)
    return invalid_param(keys.full("expert_shared_count"), "key {} is {}: too many experts of {} elements",
                         keys.full("expert_shared_count"), c.shared, c.inner);
  c.leading_dense = TRY(keys.get_or<uint32_t>("leading_dense_block_count", c.leading_dense));
  if (c.leading_dense > layers)
    return invalid_param(keys.full("leading_dense_block_count"), "key {} is {}, above the {} layers",
                         keys.full("leading_dense_block_count"), c.leading_dense, layers);
  return c;
}

}  // namespace reprise
