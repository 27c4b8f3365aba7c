// Design: reductions keep kLanes independent accumulators, because the compiler may not reorder
// floating-point operations but may run independent ones side by side. The order of additions is a fixed
// function of the row's length, so sums are reproducible. exp is 2^n times a polynomial: no call, no branch,
// hence vectorisable.
//
// Top k: the k-th largest of the maxima of 64-element blocks is a lower bound of the k-th largest element (k
// blocks hold at least one element as large), so only blocks that reach it are looked into, and few elements
// remain to select from.
#include "engine/sampler/row_scan.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace reprise {

namespace {
constexpr size_t kLanes = 16;
constexpr size_t kBlock = 64;

// exp(x) for x <= 0. x = n ln2 + r, |r| <= ln2 / 2; ln2 is split in two parts so that r is exact (Cody and
// Waite 1980); e^r by its Taylor polynomial of degree 7 (error below 1e-8 on that interval).
inline float exp_nonpositive(float x) {
  constexpr float kLog2e = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const float clamped = x > -87.0f ? x : -87.0f;
  const int n = static_cast<int>(clamped * kLog2e - 0.5f);
  const float nf = static_cast<float>(n);
  const float r = (clamped - nf * kLn2High) - nf * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const float power = std::bit_cast<float>((n + 127) << 23);
  return x >= -87.0f ? p * power : 0.0f;
}

// Calls f(i, lane) for every index in an order in which equal lanes are sequential and different ones
// independent.
template <typename F>
inline void for_lanes(size_t size, F f) {
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) f(i + lane, lane);
  for (size_t lane = 0; i + lane < size; ++lane) f(i + lane, lane);
}

constexpr size_t kSumBlock = 16 * kLanes;

// Of at most kSumBlock elements of at most 1: few enough for fp32.
inline float sum_block(const float* x, size_t size) {
  float lanes[kLanes] = {};
  for_lanes(size, [&](size_t i, size_t lane) { lanes[lane] += x[i]; });
  float sum = 0;
  for (float lane : lanes) sum += lane;
  return sum;
}
}  // namespace

bool all_finite(std::span<const float> row) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad[kLanes] = {};
  const float* x = row.data();
  for_lanes(row.size(), [&](size_t i, size_t lane) {
    bad[lane] |= (std::bit_cast<uint32_t>(x[i]) & kExponent) == kExponent ? 1u : 0u;
  });
  uint32_t any = 0;
  for (uint32_t lane : bad) any |= lane;
  return any == 0;
}

float max_of(std::span<const float> row) {
  float best[kLanes];
  std::fill_n(best, kLanes, -std::numeric_limits<float>::infinity());
  const float* x = row.data();
  for_lanes(row.size(), [&](size_t i, size_t lane) { best[lane] = x[i] > best[lane] ? x[i] : best[lane]; });
  return *std::max_element(best, best + kLanes);
}

TokenId arg_max(std::span<const float> row) {
  const float max = max_of(row);
  return static_cast<TokenId>(std::find(row.begin(), row.end(), max) - row.begin());
}

double exp_weights(std::span<const float> row, float max, float scale, float* __restrict weights) {
  const float* __restrict x = row.data();
  for (size_t i = 0; i < row.size(); ++i) weights[i] = exp_nonpositive((x[i] - max) * scale);
  return sum({weights, row.size()});
}

double exp_sum(std::span<const float> row, float max) {
  double sum = 0;
  float weights[kSumBlock];
  for (size_t begin = 0; begin < row.size(); begin += kSumBlock) {
    const size_t size = std::min(kSumBlock, row.size() - begin);
    const float* x = row.data() + begin;
    for (size_t i = 0; i < size; ++i) weights[i] = exp_nonpositive(x[i] - max);
    sum += sum_block(weights, size);
  }
  return sum;
}

double sum(std::span<const float> weights) {
  double sum = 0;
  for (size_t begin = 0; begin < weights.size(); begin += kSumBlock)
    sum += sum_block(weights.data() + begin, std::min(kSumBlock, weights.size() - begin));
  return sum;
}

double sum_at_least(std::span<const float> weights, float least) {
  double sum = 0;
  float kept[kSumBlock];
  for (size_t begin = 0; begin < weights.size(); begin += kSumBlock) {
    const size_t size = std::min(kSumBlock, weights.size() - begin);
    const float* x = weights.data() + begin;
    for (size_t i = 0; i < size; ++i) kept[i] = x[i] >= least ? x[i] : 0.0f;
    sum += sum_block(kept, size);
  }
  return sum;
}

void select_top(std::span<const float> row, size_t k, std::vector<Candidate>& out) {
  out.clear();
  if (k == 0) return;
  const size_t blocks = (row.size() + kBlock - 1) / kBlock;
  const auto block = [&](size_t b) {
    return row.subspan(b * kBlock, std::min(kBlock, row.size() - b * kBlock));
  };

  float bound = -std::numeric_limits<float>::infinity();
  if (k <= blocks) {  // `out` holds the blocks' maxima first
    for (size_t b = 0; b < blocks; ++b) out.push_back({static_cast<TokenId>(b), max_of(block(b))});
    std::nth_element(out.begin(), out.begin() + static_cast<ptrdiff_t>(k - 1), out.end(), before);
    bound = out[k - 1].logit;
    out.clear();
  }
  for (size_t b = 0; b < blocks; ++b) {
    const auto elements = block(b);
    if (max_of(elements) < bound) continue;
    for (size_t i = 0; i < elements.size(); ++i)
      if (elements[i] >= bound) out.push_back({static_cast<TokenId>(b * kBlock + i), elements[i]});
  }
  if (out.size() > k) {
    std::nth_element(out.begin(), out.begin() + static_cast<ptrdiff_t>(k - 1), out.end(), before);
    out.resize(k);
  }
}

}  // namespace reprise
