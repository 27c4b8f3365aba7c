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
  kernels::KvType kv_type = kernels::KvType::kBF16;
};

class Decoder : public Model {
 public:
  const ModelInfo& info() const final { return info_; }
  uint32_t layers() const final { return config_.layers; }
  uint32_t vocabulary_size() const final { return config_.vocabulary; }
  uint32_t hidden_size() const final { return config_.hidden; }
  KvSpec kv_spec() const final;
  size_t weight_bytes() const final;
  TokenCost token_cost() const override;
  void forward(const ForwardBatch& batch, Activations& activations) final;
  void logits(const Activations& activations, std::span<const uint32_t> rows, float* out) final;

  // Once, after loading.
  void set_info(ModelInfo info, const WeightSums& weights) {
    info_ = std::move(info);
    weights_ = weights;
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
  // The angles of a batch's rows, by one rotation.
  struct Rotation {
    Rope rope;
    kernels::Buffer cos, sin;  // [rows][rotary / 2]
    void reserve(uint32_t rows);
    void compute(uint32_t position, uint32_t count, uint32_t row);
    Angles from(uint32_t row) const;
  };
  Rotation rotation_;
  std::optional<Rotation> window_rotation_;  // where layers with a window have their own
  ModelInfo info_;
  WeightSums weights_;
  kernels::Buffer head_rows_;
  std::vector<kernels::Slice> slices_;
};

}  // namespace reprise
