// How long a step will take, learned from how long steps took.
//
// The prediction is a sum of terms, each a weight times a count: a decode step, its rows, the positions they
// attend to; prefill token-layers, and those times the positions they attend to. A prefill item's pass
// through a layer counts as pass_tokens token-layers more, for reading the weights: the two are spent in
// proportion, so that one weight is learned for both. Beside decodes the same prefill costs more (its slices
// are smaller, the caches are shared), so its weights are learned apart there. The first steps of each kind
// (decode, prefill, both) scale all that they measure by measured / predicted, averaged; but the very first
// touches cold memory and is forgotten. Later every weight is multiplied by that ratio to the power of its
// share in the prediction times a learning rate: the exponentiated gradient of the squared log error (Kivinen
// and Warmuth 1997). Weights stay positive, a term that was not in the step keeps its weight, and one outlier
// moves little. But two large errors in a row, the same way, are a machine that has become faster or slower:
// decode's weights follow at once and learn anew, prefill's follow if it is slower.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace reprise {

struct StepWork {
  uint64_t decode_rows = 0;
  uint64_t decode_depth = 0;  // sum over decode rows of the positions before them
  double prefill_token_layers = 0;
  double prefill_passes = 0;  // layers that items go through, whatever their tokens
  double prefill_depth = 0;   // sum over prefill token-layers of the positions before them

  void add_decode(uint32_t position) {
    ++decode_rows;
    decode_depth += position;
  }
  void add_prefill(uint32_t begin, uint32_t end, uint32_t layers) {
    const double work = static_cast<double>(end - begin) * layers;
    prefill_token_layers += work;
    prefill_passes += layers;
    prefill_depth += work * (begin + 0.5 * (end - begin));
  }
  // Rows of a prefill item whose next tokens are scored, each as so many token-layers.
  void add_scores(uint32_t rows, double head_layers) { prefill_token_layers += rows * head_layers; }
};

class CostModel {
 public:
  explicit CostModel(double pass_tokens = 0);

  double decode_ns(const StepWork& work) const;   // the decode part alone
  double prefill_ns(const StepWork& work) const;  // the prefill part of a step that has these decode rows
  // One more prefill token through one layer, at that position, beside decodes or not; and the pass that it
  // shares with others.
  double token_layer_ns(uint32_t position, bool beside) const;
  double pass_ns(bool beside) const { return pass_tokens_ * prefill_weight(kTokenLayers, beside); }

  void observe(const StepWork& work, Nanos elapsed);

  // Whether decode's cost wants a step of these rows without prefill, after so many with it: soon while such
  // steps surprise or when the rows are not those of the last one, at once when nothing is known.
  bool wants_decode_alone(uint64_t rows, uint32_t mixed_steps) const;

 private:
  enum Term { kStep, kRows, kRowDepth, kTokenLayers, kTokenLayerDepth, kBeside, kTerms = kBeside + 2 };
  using Terms = std::array<double, kTerms>;  // kBeside: the two before it, in steps with decodes
  Terms counts(const StepWork& work) const;
  double prefill_weight(Term term, bool beside) const;

  double pass_tokens_;
  Terms weights_;  // ns
  struct Seen {
    int decode = 0, prefill = 0, mixed = 0;
  } seen_;  // first steps of each kind; until a mixed one, the weights beside decodes follow the others
  uint64_t rows_alone_ = 0;  // of the last step of decode alone; 0: none, or the machine has changed since
  double last_error_ = 0;    // of the last step's time, as a logarithm; 0 after a first step or a change
  uint32_t most_mixed_steps_;
};

}  // namespace reprise
