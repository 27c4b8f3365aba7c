// Runs sequences through a model in tests: owns their KV pages and remembers how far they are.
#pragma once

#include <vector>

#include "model/model.h"

namespace reprise::testing {

class Sequence {
 public:
  // Pages for all of `tokens`, filled with NaN: nothing may depend on memory that was not written.
  Sequence(const Model& model, std::vector<TokenId> tokens);
  // Continues after the first `count` tokens of `cached`, which must be the same: shares the pages that those
  // fill, copies one that they fill in part. `cached` must outlive it.
  Sequence(const Model& model, std::vector<TokenId> tokens, const Sequence& cached, uint32_t count);

  // Takes over the pages of a sequence that is given up, as they are, in another order, for what is still to
  // be computed.
  void reuse(Sequence given_up);

  uint32_t remaining() const { return static_cast<uint32_t>(tokens_.size()) - position_; }
  // The next `count` tokens as rows of a batch; advance() once they have been through all layers.
  SequenceRows rows(uint32_t count) const;
  void advance(uint32_t count) { position_ += count; }

 private:
  std::vector<TokenId> tokens_;
  uint32_t position_ = 0, page_tokens_ = 0;
  std::vector<kernels::Buffer> pages_;
  std::vector<std::byte*> page_pointers_;
};

// Logits of all tokens, [token][vocabulary], computed `chunk` tokens at a time and `layers` layers at a time.
std::vector<float> all_logits(Model& model, const std::vector<TokenId>& tokens, uint32_t chunk,
                              uint32_t layers);
// The same of what remains of a sequence, which is advanced to its end.
std::vector<float> remaining_logits(Model& model, Sequence& sequence, uint32_t chunk, uint32_t layers);

}  // namespace reprise::testing
