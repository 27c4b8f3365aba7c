#include "model/testing/sequence.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"

namespace reprise::testing {

Sequence::Sequence(const Model& model, std::vector<TokenId> tokens) : tokens_(std::move(tokens)) {
  const KvSpec spec = model.kv_spec();
  page_tokens_ = spec.page_tokens;
  for (size_t first = 0; first < tokens_.size(); first += spec.page_tokens) {
    pages_.emplace_back(spec.groups.front().page_bytes);
    std::memset(pages_.back().data(), 0xff, pages_.back().size());
    page_pointers_.push_back(pages_.back().data());
  }
}

Sequence::Sequence(const Model& model, std::vector<TokenId> tokens, const Sequence& cached, uint32_t count)
    : Sequence(model, std::move(tokens)) {
  CHECK(count <= cached.position_ &&
        std::equal(tokens_.begin(), tokens_.begin() + count, cached.tokens_.begin()));
  const uint32_t page_tokens = model.kv_spec().page_tokens;
  for (uint32_t i = 0; i < count / page_tokens; ++i) page_pointers_[i] = cached.page_pointers_[i];
  if (count % page_tokens != 0)
    std::memcpy(page_pointers_[count / page_tokens], cached.page_pointers_[count / page_tokens],
                model.kv_spec().groups.front().page_bytes);
  position_ = count;
}

void Sequence::reuse(Sequence given_up) {
  CHECK(page_tokens_ == given_up.page_tokens_);
  for (size_t i = (position_ + page_tokens_ - 1) / page_tokens_; i < pages_.size(); ++i) {
    if (given_up.pages_.empty()) return;
    pages_[i] = std::move(given_up.pages_.back());
    given_up.pages_.pop_back();
    page_pointers_[i] = pages_[i].data();
  }
}

SequenceRows Sequence::rows(uint32_t count) const {
  CHECK(count <= remaining());
  return {.tokens = TokenSpan(tokens_).subspan(position_, count),
          .position = position_,
          .pages = {page_pointers_}};
}

std::vector<float> remaining_logits(Model& model, Sequence& sequence, uint32_t chunk, uint32_t layers) {
  std::vector<float> logits(size_t{sequence.remaining()} * model.vocabulary_size());
  float* out = logits.data();
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

std::vector<float> all_logits(Model& model, const std::vector<TokenId>& tokens, uint32_t chunk,
                              uint32_t layers) {
  Sequence sequence(model, tokens);
  return remaining_logits(model, sequence, chunk, layers);
}

}  // namespace reprise::testing
