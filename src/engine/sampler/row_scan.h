// Passes over one row of logits that must be cheap for vocabularies of 50k to 250k: maximum, arg max,
// finiteness, weights of the softmax, and the k largest. Plain loops over independent lanes, which the
// compiler turns into SIMD.
//
// Order of tokens everywhere: larger logit first, lower id first among equals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/token.h"

namespace reprise {

struct Candidate {
  TokenId token;
  float logit;
};
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

bool all_finite(std::span<const float> row);
// The largest element of a row without NaN; minus infinity for an empty one.
float max_of(std::span<const float> row);
// The lowest index of the largest element. The row is not empty.
TokenId arg_max(std::span<const float> row);

// weights[i] = exp((row[i] - max) * scale), relative error below 1e-6, 0 below exp(-87); returns their sum.
// The two must not overlap. max >= every element, 0 < scale < infinity (may be huge: the maximum's weight is
// still 1).
double exp_weights(std::span<const float> row, float max, float scale, float* weights);
double sum(std::span<const float> weights);                        // of elements in [0, 1]
double sum_at_least(std::span<const float> weights, float least);  // of those >= least
// The same sum without storing: sum of exp(row[i] - max).
double exp_sum(std::span<const float> row, float max);

// The k first tokens of the row in unspecified order (all, when k >= size).
void select_top(std::span<const float> row, size_t k, std::vector<Candidate>& out);

}  // namespace reprise
