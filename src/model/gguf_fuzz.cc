// Any bytes as a model file: parsing, configuration, vocabulary and shape checks must refuse or accept, never
// crash, hang or take memory out of proportion. What passes the checks and is small is loaded and run for a
// token.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "model/architectures.h"
#include "model/vocabulary.h"

namespace reprise {
namespace {

constexpr uint64_t kSmallModel = 1 << 20;  // bytes of weights, and of a KV page

Result<void> run(const GgufFile& file) {
  static TaskPool pool(1, /*pin=*/false);
  const kernels::Table& table = kernels::ref_table();
  const Architecture& architecture = *TRY(architecture_of(file));
  WeightLoader checker(file, pool, table, WeightLoader::Mode::kCheck);
  DecoderConfig config = TRY(read_config(file, checker));
  TRY(resolve_context(config, {.rope_scaling = "yarn:2"}));
  const Vocabulary vocabulary = TRY(read_vocabulary(file, config.vocabulary));
  TRY(read_stop_tokens(file, vocabulary));
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

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = reprise::GgufFile::parse({reinterpret_cast<const std::byte*>(data), size});
  if (file) (void)reprise::run(*file);
  return 0;
}
