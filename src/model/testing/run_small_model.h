// What a fuzz target does with a model file that was parsed: everything that loading does, and a step of the
// model.
#pragma once

#include "model/architectures.h"
#include "model/model_file.h"
#include "model/sampling_defaults.h"
#include "model/vocabulary.h"

namespace reprise::testing {

inline Result<void> run_small_model(const ModelFile& file) {
  constexpr uint64_t kSmallModel = 1 << 20;  // bytes of weights, and of a KV page
  static TaskPool pool(1, /*pin=*/false);
  const kernels::Table& table = kernels::ref_table();
  const Architecture& architecture = *TRY(architecture_of(file));
  WeightLoader checker(file, pool, table, WeightLoader::Mode::kCheck);
  DecoderConfig config = TRY(read_config(file, checker));
  TRY(resolve_context(config, {.rope_scaling = "yarn:2"}));
  const Vocabulary vocabulary = TRY(read_vocabulary(file, config.vocabulary, config.notes));
  TRY(read_stop_tokens(file, vocabulary, config.vocabulary, config.notes));
  TRY(read_sampling_defaults(file, config.notes));
  TRY(architecture.load({config, checker, pool, table, 16}));
  TRY(checker.finish());
  if (file.bytes() > kSmallModel) return {};

  WeightLoader packer(file, pool, table, WeightLoader::Mode::kPack);
  const auto model = TRY(architecture.load({config, packer, pool, table, 16}));
  const size_t page_bytes = model->kv_spec().groups.front().page_bytes;
  if (page_bytes > kSmallModel) return {};
  kernels::Buffer page(page_bytes);
  std::byte* pages[] = {page.data()};
  const std::vector<TokenId> tokens(2, 0);
  const SequenceRows rows{.tokens = tokens, .pages = {pages}};
  Activations activations;
  model->forward({{&rows, 1}, 0, model->layers()}, activations);
  std::vector<float> logits(model->vocabulary_size());
  const uint32_t row = 1;
  model->logits(activations, {&row, 1}, logits.data());
  return {};
}

}  // namespace reprise::testing
