// For tests: a Model made of integer hashes instead of arithmetic. Like a transformer's, a row's result
// depends on its token, its position and the KV of every earlier position, at every layer; unlike a
// transformer's it is exact, instant, and any wrong, stale or missing KV entry, row or layer changes every
// later token.
#pragma once

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/check.h"
#include "model/model.h"

namespace reprise::testing {

struct HashModelOptions {
  uint32_t layers = 4;
  uint32_t vocabulary = 97;
  uint32_t page_tokens = 16;
  uint32_t context = 4096;
  TokenId poison = -1;  // rows of this token have logits that are not finite
};

struct ForwardCall {
  uint32_t layer_begin, layer_end;
  std::vector<std::pair<uint32_t, size_t>> sequences;  // position, rows
};

class HashModel final : public Model {
 public:
  explicit HashModel(const HashModelOptions& options, std::vector<ForwardCall>* calls = nullptr)
      : options_(options), calls_(calls) {
    info_.name = "hash";
    info_.context_length = options.context;
    info_.fingerprint = 1;
  }

  const ModelInfo& info() const override { return info_; }
  uint32_t layers() const override { return options_.layers; }
  uint32_t vocabulary_size() const override { return options_.vocabulary; }
  uint32_t hidden_size() const override { return sizeof(uint64_t) / sizeof(float); }
  KvSpec kv_spec() const override {
    return {options_.page_tokens,
            {{KvKind::kFull, 0, size_t{options_.layers} * options_.page_tokens * sizeof(uint64_t)}}};
  }
  size_t weight_bytes() const override { return 0; }

  void forward(const ForwardBatch& batch, Activations& activations) override {
    if (calls_) {
      calls_->push_back({batch.layer_begin, batch.layer_end, {}});
      for (const SequenceRows& s : batch.sequences)
        calls_->back().sequences.push_back({s.position, s.tokens.size()});
    }
    uint32_t rows = 0;
    for (const SequenceRows& sequence : batch.sequences) rows += sequence.tokens.size();
    if (batch.layer_begin == 0) {
      activations.hidden.reserve(rows * sizeof(uint64_t));
      activations.rows = rows;
    }
    CHECK(activations.rows == rows, "{} rows, activations of {}", rows, activations.rows);
    auto* hidden = activations.hidden.as<uint64_t>();
    for (const SequenceRows& sequence : batch.sequences) {
      const size_t size = sequence.tokens.size();
      if (batch.layer_begin == 0)
        for (size_t i = 0; i < size; ++i) hidden[i] = embed(sequence.tokens[i]);
      for (uint32_t layer = batch.layer_begin; layer < batch.layer_end; ++layer)
        run_layer(sequence, layer, hidden);
      hidden += size;
    }
  }

  void logits(const Activations& activations, std::span<const uint32_t> rows, float* out) override {
    for (uint32_t row : rows) {
      const uint64_t h = activations.hidden.as<uint64_t>()[row];
      for (uint32_t v = 0; v < options_.vocabulary; ++v)
        *out++ = h == kPoisoned ? std::numeric_limits<float>::quiet_NaN()
                                : static_cast<float>(mix(h + v) >> 48) / 8192;  // [0, 8)
    }
  }

 private:
  static constexpr uint64_t kPoisoned = 1;
  static uint64_t mix(uint64_t x) {  // the finaliser of SplitMix64 (Steele, Lea and Flood 2014)
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t embed(TokenId token) const {
    CHECK(token >= 0 && static_cast<uint32_t>(token) < options_.vocabulary, "token {}", token);
    return token == options_.poison ? kPoisoned : mix(static_cast<uint64_t>(token) + 1000);
  }
  void run_layer(const SequenceRows& sequence, uint32_t layer, uint64_t* hidden) const {
    const uint32_t n = options_.page_tokens;
    const auto slot = [&](size_t position) {
      return reinterpret_cast<uint64_t*>(sequence.pages[0][position / n]) + size_t{layer} * n + position % n;
    };
    for (size_t i = 0; i < sequence.tokens.size(); ++i) {
      const size_t position = sequence.position + i;
      *slot(position) = mix(hidden[i] + layer);
      uint64_t seen = 0;
      for (size_t past = 0; past <= position; ++past) seen += *slot(past) * (2 * past + 1);
      if (hidden[i] != kPoisoned) hidden[i] = mix(hidden[i] ^ seen);
    }
  }

  const HashModelOptions options_;
  std::vector<ForwardCall>* calls_;
  ModelInfo info_;
};

}  // namespace reprise::testing
