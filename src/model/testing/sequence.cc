#include "model/testing/sequence.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"

namespace reprise::testing {

Sequence::Sequence(const Model& model, std::vector<TokenId> tokens) : tokens_(std::move(tokens)) {
  const KvSpec spec = model.kv_spec();
  for (size_t first = 0; first < tokens_.size(); first += spec.page_tokens) {
    pages_.emplace_back(spec.groups.front().page_bytes);
    std::memset(pages_.back().data(), 0xff, pages_.back().size());
    page_pointers_.push_back(pages_.back().data());
  }
}

SequenceRows Sequence::rows(uint32_t count) const {
  CHECK(count <= remaining());
  return {.tokens = TokenSpan(tokens_).subspan(position_, count),
          .position = position_,
          .pages = {page_pointers_}};
}

std::vector<float> all_logits(Model& model, const std::vector<TokenId>& tokens, uint32_t chunk,
                              uint32_t layers) {
  std::vector<float> logits(tokens.size() * model.vocabulary_size());
  float* out = logits.data();
  Sequence sequence(model, tokens);
  Activations activations;
  while (sequence.remaining() > 0) {
    const uint32_t count = std::min(chunk, sequence.remaining());
    const SequenceRows rows = sequence.rows(count);
    for (uint32_t layer = 0; layer < model.layers(); layer += layers)
      model.forward({{&rows, 1}, layer, std::min(layer + layers, model.layers())}, activations);
    std::vector<uint32_t> wanted(count);
    std::iota(wanted.begin(), wanted.end(), 0);
    model.logits(activations, wanted, out);
    out += size_t{count} * model.vocabulary_size();
    sequence.advance(count);
  }
  return logits;
}

}  // namespace reprise::testing
