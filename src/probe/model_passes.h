// The passes that bench_model() times: prefill and greedy decode of one sequence, cut into windows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/buffer.h"
#include "model/model.h"
#include "probe/model_speed.h"
#include "probe/windows.h"

namespace reprise {

// What is prefilled, the depth first: the same tokens for every run with a vocabulary.
std::vector<TokenId> bench_tokens(size_t count, uint32_t vocabulary);

class ModelPasses {
 public:
  // All must outlive this. Computes the depth.
  ModelPasses(const ModelBenchOptions& options, Model& model, WindowTimer& timer,
              const std::function<void(const std::string&)>& progress);

  void measure();

  // After measure(); empty when the options ask for none. Seconds of the whole prompt, and of one token.
  std::optional<Estimate> prefill() const;
  std::optional<Estimate> decode() const;
  std::string prefill_hash() const { return show(prefill_hash_); }
  std::string decode_hash() const { return show(decode_hash_); }
  bool stable() const { return stable_; }  // every pass gave the hashes of the first

 private:
  struct Slice {
    uint32_t begin, rows, layer_begin, layer_end;
  };
  static std::string show(const std::optional<uint64_t>& hash);

  void cut_slices();
  void prefill_pass();
  void decode_pass();
  void forward(uint32_t begin, uint32_t rows, uint32_t layer_begin, uint32_t layer_end);
  void run(TokenSpan tokens, uint32_t position, uint32_t layer_begin, uint32_t layer_end);
  TokenId greedy(uint32_t row);  // leaves the row's logits in logits_
  void check(std::optional<uint64_t>& first, uint64_t hash);

  const ModelBenchOptions& options_;
  Model& model_;
  WindowTimer& timer_;
  const uint32_t layers_;
  std::vector<kernels::Buffer> memory_;  // per KV group
  std::vector<std::vector<std::byte*>> pages_;
  std::vector<TokenId> tokens_;
  std::vector<float> logits_;
  Activations activations_;

  std::vector<Slice> slices_;
  std::vector<std::vector<Window>> prefill_windows_;  // per slice
  std::vector<Window> decode_windows_;                // seconds a token
  uint32_t steps_a_window_ = 1;
  TokenId first_decoded_ = 0;  // fed to the first decode step
  std::optional<uint64_t> prefill_hash_, decode_hash_;
  bool stable_ = true;
};

}  // namespace reprise
