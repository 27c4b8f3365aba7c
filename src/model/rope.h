// Rotary position embedding: per-pair frequencies with the context-extension scalings in use, and the cosines
// and sines of positions. Su et al. 2021 (RoPE), Chen et al. 2023 (linear interpolation), Peng et al. 2023
// (YaRN), Llama 3.1's frequency divisors (GGUF's rope_freqs.weight). YaRN multiplies cosine and sine by what
// the file says (yarn_attn_factor), else by 0.1 ln(factor) + 1, unless its ext_factor is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/buffer.h"
#include "model/model_keys.h"

namespace reprise {

struct RopeConfig {
  enum class Scaling { kNone, kLinear, kYarn };

  uint32_t rotary = 0;  // rotated elements of each head, even
  double base = 10000;
  Scaling scaling = Scaling::kNone;
  double factor = 1;                     // context extension, >= 1
  uint32_t original_context = 0;         // what `factor` extends
  double reach = 0;                      // positions that it extends it to; 0: the file does not say
  double beta_fast = 32, beta_slow = 1;  // YaRN: rotations within original_context that bound the ramp
  bool whole_pairs = true;               // YaRN: the ramp begins and ends at whole pairs
  double extrapolation = 1;  // YaRN: share of the unscaled frequency above the ramp (ggml's ext_factor)
  double magnitude = 1;      // multiplies cosine and sine, beside YaRN's own factor
  std::optional<double> yarn_magnitude;  // YaRN's own factor, where it is not 0.1 ln(factor) + 1
  std::vector<float> divisors;           // of each pair's frequency, before scaling; empty = all 1
};

// Reads rope.* for the shape given. Errors name the key. Divisors are the caller's.
Result<RopeConfig> read_rope_config(ModelKeys& keys, uint32_t head_dim, uint32_t trained_context);
// YaRN's factor for cosine and sine: 0.1 scale ln(factor) + 1.
double yarn_magnitude(double factor, double scale);
// Replaces the scaling by the one a person asked for: "none", "linear:F" or "yarn:F" with F > 1.
Result<void> override_rope_scaling(RopeConfig& config, std::string_view asked);
// "none", "llama3 frequencies", "yarn x4 over 8192".
std::string describe(const RopeConfig& config);

// Engine thread only. The angles of the first `positions` are computed once, when they are first asked for,
// and kept in memory that is reserved here and touched as it is used; those of later positions are not kept.
class Rope {
 public:
  explicit Rope(const RopeConfig& config, uint32_t positions = 0);
  uint32_t rotary() const { return static_cast<uint32_t>(2 * frequencies_.size()); }
  std::span<const double> frequencies() const { return frequencies_; }  // radians per position, one a pair
  double magnitude() const { return magnitude_; }
  size_t bytes() const { return memory_.size(); }  // when all positions have been asked for
  // Writes cos and sin [rows][rotary / 2] of positions first .. first + rows - 1, magnitude included.
  void angles(uint32_t first, uint32_t rows, float* cos, float* sin);

 private:
  void compute(uint32_t position, float* cos, float* sin) const;

  std::vector<double> frequencies_;
  double magnitude_;
  size_t positions_;
  kernels::Buffer memory_;  // cos [positions][rotary / 2], then sin
  uint32_t computed_ = 0;   // positions in memory_
};

}  // namespace reprise
