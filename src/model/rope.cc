// Frequencies and angles are computed in double: at position 100,000 a single-precision angle is already off
// by 5e-3.
#include "model/rope.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace reprise {
namespace {

constexpr double kMaxFactor = 4096;

Result<double> positive(ModelKeys& keys, std::string_view name, double fallback) {
  const double value = TRY(keys.get_or<double>(name, fallback));
  if (!(value > 0) || value > 1e12)
    return invalid_param(keys.full(name), "key {} is {}, wanted a number above 0", keys.full(name), value);
  return value;
}

// The (real-valued) pair index whose frequency turns `rotations` times within the original context.
double pair_of_rotations(const RopeConfig& config, double rotations) {
  return config.rotary * std::log(config.original_context / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(config.base));
}

}  // namespace

Result<RopeConfig> read_rope_config(ModelKeys& keys, uint32_t head_dim, uint32_t trained_context) {
  RopeConfig config;
  config.rotary = TRY(keys.get_or<uint32_t>("rope.dimension_count", head_dim));
  if (config.rotary < 2 || config.rotary % 2 != 0 || config.rotary > head_dim)
    return invalid_param(keys.full("rope.dimension_count"),
                         "key {} is {}, wanted an even number up to the head size {}",
                         keys.full("rope.dimension_count"), config.rotary, head_dim);
  config.base = TRY(positive(keys, "rope.freq_base", 10000));
  if (config.base <= 1)
    return invalid_param(keys.full("rope.freq_base"), "key {} is not above 1", keys.full("rope.freq_base"));

  // Files older than rope.scaling.* hold scale_linear; a factor without a type is linear (llama.cpp's rule).
  const double old_linear = TRY(keys.get_or<double>("rope.scale_linear", 1));
  config.factor = TRY(keys.get_or<double>("rope.scaling.factor", old_linear));
  if (config.factor == 0) config.factor = 1;
  if (config.factor < 1 || config.factor > kMaxFactor)
    return invalid_param(keys.full("rope.scaling.factor"), "key {} is {}, wanted 1 to {}",
                         keys.full("rope.scaling.factor"), config.factor, kMaxFactor);
  const std::string_view type =
      TRY(keys.get_or<std::string_view>("rope.scaling.type", config.factor > 1 ? "linear" : "none"));
  if (type == "none")
    config.scaling = RopeConfig::Scaling::kNone;
  else if (type == "linear")
    config.scaling = RopeConfig::Scaling::kLinear;
  else if (type == "yarn")
    config.scaling = RopeConfig::Scaling::kYarn;
  else
    return unsupported_key(
        keys.full("rope.scaling.type"),
        fmt::format("RoPE scaling \"{}\" (supported: none, linear, yarn)", printable(type, 40)));
  if (config.scaling == RopeConfig::Scaling::kNone) config.factor = 1;
  config.original_context =
      TRY(keys.get_or<uint32_t>("rope.scaling.original_context_length", trained_context));
  if (config.original_context == 0)
    return invalid_param(keys.full("rope.scaling.original_context_length"), "key {} is 0",
                         keys.full("rope.scaling.original_context_length"));
  if (config.scaling != RopeConfig::Scaling::kNone && keys.has("rope.scaling.original_context_length"))
    config.reach = config.original_context * config.factor;
  config.magnitude = TRY(positive(keys, "rope.scaling.attn_factor", 1));
  if (keys.has("rope.scaling.yarn_attn_factor"))
    config.yarn_magnitude = TRY(positive(keys, "rope.scaling.yarn_attn_factor", 1));
  config.beta_fast = TRY(positive(keys, "rope.scaling.yarn_beta_fast", 32));
  config.beta_slow = TRY(positive(keys, "rope.scaling.yarn_beta_slow", 1));
  // Folders say it; a GGUF file's ramp is of whole pairs, but where the architecture says otherwise.
  config.whole_pairs = TRY(keys.get_or<bool>("rope.scaling.yarn_truncate", true));
  config.extrapolation = TRY(keys.get_or<double>("rope.scaling.yarn_ext_factor", 1));
  if (config.extrapolation < 0 || config.extrapolation > 1)
    return invalid_param(keys.full("rope.scaling.yarn_ext_factor"), "key {} is {}, wanted 0 to 1",
                         keys.full("rope.scaling.yarn_ext_factor"), config.extrapolation);
  return config;
}

double yarn_magnitude(double factor, double scale) { return 0.1 * scale * std::log(factor) + 1; }

Result<void> override_rope_scaling(RopeConfig& config, std::string_view asked) {
  const auto bad = [&] {
    return invalid_param("rope-scaling",
                         "--rope-scaling {}: wanted none, linear:F or yarn:F with F from 1 to {}",
                         printable(asked, 40), kMaxFactor);
  };
  const size_t colon = asked.find(':');
  const std::string_view kind = asked.substr(0, colon);
  RopeConfig::Scaling scaling;
  if (kind == "none")
    scaling = RopeConfig::Scaling::kNone;
  else if (kind == "linear")
    scaling = RopeConfig::Scaling::kLinear;
  else if (kind == "yarn")
    scaling = RopeConfig::Scaling::kYarn;
  else
    return bad();
  double factor = 1;
  if (scaling == RopeConfig::Scaling::kNone) {
    if (colon != std::string_view::npos) return bad();
  } else {
    if (colon == std::string_view::npos) return bad();
    const std::string_view number = asked.substr(colon + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
    if (error != std::errc{} || end != number.data() + number.size() || !(factor >= 1) || factor > kMaxFactor)
      return bad();
  }
  config.scaling = scaling;
  config.factor = factor;
  config.reach = config.original_context * factor;
  config.magnitude = 1;
  config.yarn_magnitude.reset();
  config.extrapolation = 1;
  config.beta_fast = 32;
  config.beta_slow = 1;
  return {};
}

std::string describe(const RopeConfig& config) {
  std::string text = config.divisors.empty() ? "" : "llama3 frequencies";
  if (config.scaling != RopeConfig::Scaling::kNone) {
    if (!text.empty()) text += " and ";
    text += fmt::format("{} x{:g} over {}", config.scaling == RopeConfig::Scaling::kYarn ? "yarn" : "linear",
                        config.factor, config.original_context);
  }
  return text.empty() ? "none" : text;
}

Rope::Rope(const RopeConfig& config, uint32_t positions)
    : frequencies_(config.rotary / 2),
      magnitude_(config.magnitude),
      positions_(positions),
      memory_(size_t{positions} * config.rotary * sizeof(float)) {
  double low = 0, high = 0;
  const bool yarn = config.scaling == RopeConfig::Scaling::kYarn;
  if (yarn) {
    low = pair_of_rotations(config, config.beta_fast);
    high = pair_of_rotations(config, config.beta_slow);
    if (config.whole_pairs) low = std::floor(low), high = std::ceil(high);
    low = std::max(0.0, low);
    high = std::min(config.rotary - 1.0, high);
    if (config.yarn_magnitude)
      magnitude_ *= *config.yarn_magnitude;
    else if (config.extrapolation != 0)
      magnitude_ *= yarn_magnitude(config.factor, 1);
  }
  for (size_t i = 0; i < frequencies_.size(); ++i) {
    double f = std::pow(config.base, -2.0 * static_cast<double>(i) / config.rotary);
    if (!config.divisors.empty()) f /= config.divisors[i];
    const double interpolated = f / config.factor;
    if (yarn) {
      const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
      const double keep = (1 - ramp) * config.extrapolation;
      frequencies_[i] = interpolated * (1 - keep) + f * keep;
    } else {
      frequencies_[i] = interpolated;
    }
  }
}

void Rope::compute(uint32_t position, float* cos, float* sin) const {
  for (size_t i = 0; i < frequencies_.size(); ++i) {
    const double angle = position * frequencies_[i];
    cos[i] = static_cast<float>(std::cos(angle) * magnitude_);
    sin[i] = static_cast<float>(std::sin(angle) * magnitude_);
  }
}

void Rope::angles(uint32_t first, uint32_t rows, float* cos, float* sin) {
  const size_t pairs = frequencies_.size();
  float *kept_cos = memory_.as<float>(), *kept_sin = kept_cos + positions_ * pairs;
  const uint64_t end = uint64_t{first} + rows;
  for (; computed_ < std::min<uint64_t>(end, positions_); ++computed_)
    compute(computed_, kept_cos + computed_ * pairs, kept_sin + computed_ * pairs);
  const uint32_t kept =
      first < positions_ ? static_cast<uint32_t>(std::min<uint64_t>(end, positions_)) - first : 0;
  if (kept > 0) {
    std::copy_n(kept_cos + first * pairs, kept * pairs, cos);
    std::copy_n(kept_sin + first * pairs, kept * pairs, sin);
  }
  for (uint32_t r = kept; r < rows; ++r) compute(first + r, cos + r * pairs, sin + r * pairs);
}

}  // namespace reprise
