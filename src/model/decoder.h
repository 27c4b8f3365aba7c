// What all decoder-only models share: embedding, the walk of row blocks through layers, the output head. An
// architecture derives from it and computes one layer for one block.
#pragma once

#include <memory>
#include <vector>

#include "model/config.h"
#include "model/layers.h"
#include "model/model.h"
#include "model/rope.h"

namespace reprise {

// Everything an architecture's loader works from, settled before it runs.
struct LoadContext {
  const DecoderConfig& config;
  WeightLoader& weights;
  TaskPool& pool;
  const kernels::Table& table;
  uint32_t page_tokens;
  uint32_t context = 0;  // tokens a sequence may hold
};

class Decoder : public Model {
 public:
  const ModelInfo& info() const final { return info_; }
  uint32_t layers() const final { return config_.layers; }
  uint32_t vocabulary_size() const final { return config_.vocabulary; }
  uint32_t hidden_size() const final { return config_.hidden; }
  KvSpec kv_spec() const final;
  size_t weight_bytes() const final { return weight_bytes_ + rope_.bytes(); }
  TokenCost token_cost() const override;
  void forward(const ForwardBatch& batch, Activations& activations) final;
  void logits(const Activations& activations, std::span<const uint32_t> rows, float* out) final;

  // Once, after loading.
  void set_info(ModelInfo info, size_t weight_bytes, double float_share) {
    info_ = std::move(info);
    weight_bytes_ = weight_bytes;
    float_share_ = float_share;
  }

 protected:
  struct Ends {  // the weights before the first and after the last layer
    kernels::Matrix embedding;
    Norm norm;
    Projection output;  // no parts: the embedding, tied
  };
  static Result<Ends> load_ends(const LoadContext& context);

  Decoder(const LoadContext& context, Ends ends);
  virtual void run_layer(uint32_t layer, const RowBlock& block) = 0;

  Workspace workspace_;

 private:
  void embed(const ForwardBatch& batch, Activations& activations);

  DecoderConfig config_;
  Ends ends_;
  Rope rope_;
  ModelInfo info_;
  size_t weight_bytes_ = 0;  // of the matrices
  double float_share_ = 0;   // of the layers' matrices, by elements
  kernels::Buffer cos_, sin_, head_rows_;
  std::vector<kernels::Slice> slices_;
};

}  // namespace reprise
