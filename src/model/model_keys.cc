#include "model/model_keys.h"

#include <algorithm>

namespace reprise {
namespace {

// Keys that, with another value than the neutral one, mean a computation that only some architectures do.
struct Neutral {
  const char* name;
  double value;
};
constexpr Neutral kComputations[] = {
    {"expert_count", 0},
    {"attention.max_alibi_bias", 0},
    {"attention.clamp_kqv", 0},
    {"logit_scale", 1},
    {"embedding_scale", 1},
    {"residual_scale", 1},
    {"attn_logit_softcapping", 0},
    {"final_logit_softcapping", 0},
    {"attention.sliding_window", 0},
    {"attention.temperature_scale", 0},
    {"use_parallel_residual", 0},
    {"attention.layer_norm_epsilon", 0},
    {"interleave_moe_layer_step", 0},
    {"attention.key_length_mla", 0},
    {"nextn_predict_layers", 0},
    {"rope.scaling.yarn_log_multiplier", 0},
};
// Keys without effect on the computation.
constexpr const char* kHarmless[] = {
    "vocab_size",         "tensor_data_layout",      "rope.scaling.finetuned", "expert_used_count",
    "expert_group_count", "expert_group_used_count", "rope.interleaved",
};

}  // namespace

std::unexpected<Error> unsupported_key(const std::string& key, std::string_view why) {
  return std::unexpected(Error{ErrorKind::kUnsupported, fmt::format("key {}: {}", key, why), key});
}

Result<uint32_t> ModelKeys::size(std::string_view name, uint32_t limit, std::optional<uint32_t> fallback) {
  const uint32_t value = fallback ? TRY(get_or<uint32_t>(name, *fallback)) : TRY(require<uint32_t>(name));
  if (value == 0 || value > limit)
    return invalid_param(full(name), "key {} is {}, wanted 1 to {}", full(name), value, limit);
  return value;
}

Result<void> ModelKeys::check_unread(std::vector<std::string>& notes) const {
  for (std::string_view key : file_.keys()) {
    if (!key.starts_with(prefix_)) continue;
    const std::string_view name = key.substr(prefix_.size());
    if (read_.contains(name) || std::ranges::find(kHarmless, name) != std::end(kHarmless)) continue;
    const auto* computation =
        std::ranges::find_if(kComputations, [&](const Neutral& n) { return name == n.name; });
    if (computation == std::end(kComputations)) {
      notes.push_back(fmt::format("key {} is not known and was ignored", printable(key)));
      continue;
    }
    const GgufValue& value = *file_.value(key);
    const auto number = detail::convert<double>(value);
    const auto flag = detail::convert<bool>(value);
    if (!(number && *number == computation->value) && !(flag && *flag == (computation->value != 0)))
      return unsupported_key(std::string(key), fmt::format("{} is not supported", detail::describe(value)));
  }
  return {};
}

}  // namespace reprise
