// How long a step will take, learned from how long steps took.
//
// The prediction is a sum of terms, each a weight times a count: a decode step, its rows, the positions they
// attend to; prefill token-layers, and those times the positions they attend to. After a step every weight is
// multiplied by (measured / predicted) to the power of its share in the prediction times a learning rate: the
// exponentiated gradient of the squared log error (Kivinen and Warmuth 1997). Weights stay positive, a term
// that was not in the step keeps its weight, and one outlier moves little.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace reprise {

struct StepWork {
  uint64_t decode_rows = 0;
  uint64_t decode_depth = 0;  // sum over decode rows of the positions before them
  double prefill_token_layers = 0;
  double prefill_depth = 0;  // sum over prefill token-layers of the positions before them

  void add_decode(uint32_t position) {
    ++decode_rows;
    decode_depth += position;
  }
  void add_prefill(uint32_t begin, uint32_t end, uint32_t layers) {
    const double work = static_cast<double>(end - begin) * layers;
    prefill_token_layers += work;
    prefill_depth += work * (begin + 0.5 * (end - begin));
  }
};

class CostModel {
 public:
  CostModel();

  double decode_ns(const StepWork& work) const;   // the decode part alone
  double prefill_ns(const StepWork& work) const;  // the prefill part alone
  double token_layer_ns(
      uint32_t position) const;  // one more prefill token through one layer, at that position

  void observe(const StepWork& work, Nanos elapsed);

 private:
  enum Term { kStep, kRows, kRowDepth, kTokenLayers, kTokenLayerDepth, kTerms };
  using Terms = std::array<double, kTerms>;
  static Terms counts(const StepWork& work);

  Terms weights_;  // ns
  bool decode_alone_seen_ = false;
  int decode_seen_ = 0, prefill_seen_ = 0;  // steps with such work: the first ones teach fast
};

}  // namespace reprise
