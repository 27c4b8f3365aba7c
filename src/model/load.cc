// Loading runs the architecture's loader twice: first checking names, types and shapes only, so that a file
// that cannot be served is refused at once, then packing.
#include "model/load.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "model/architectures.h"
#include "model/config.h"
#include "model/vocabulary.h"
#include "model/weights.h"

namespace reprise {
namespace {

// Identity of the weights and of everything that changes KV bytes: the whole header, bytes from all over each
// tensor, the table (which decides the KV format), the rotation in force and the page size.
uint64_t fingerprint(const GgufFile& file, const DecoderConfig& config, const kernels::Table& table,
                     uint32_t page_tokens) {
  constexpr size_t kSamples = 8, kSampleBytes = 64;
  uint64_t h = hash_bytes(file.header().data(), file.header().size());
  for (const GgufTensor& tensor : file.tensors()) {
    const size_t size = std::min(kSampleBytes, tensor.bytes.size());
    for (size_t i = 0; i < kSamples; ++i)
      h = hash_bytes(tensor.bytes.data() + (tensor.bytes.size() - size) / (kSamples - 1) * i, size, h);
  }
  h = hash(table.name, h);
  const Rope rope(config.rope);
  h = hash_bytes(rope.frequencies().data(), rope.frequencies().size_bytes(), h);
  const double magnitude = rope.magnitude();
  h = hash_bytes(&magnitude, sizeof magnitude, h);
  return hash_bytes(&page_tokens, sizeof page_tokens, h);
}

Result<ModelInfo> read_info(const GgufFile& file, const std::filesystem::path& path,
                            const DecoderConfig& config) {
  ModelInfo info;
  info.name = TRY(file.get_or<std::string_view>("general.name", ""));
  if (info.name.empty()) info.name = path.stem().string();
  info.architecture = config.architecture;
  info.trained_context = config.trained_context;
  info.vocabulary = TRY(read_vocabulary(file, config.vocabulary));
  info.stop_tokens = TRY(read_stop_tokens(file, info.vocabulary));
  info.chat_template = TRY(file.get_or<std::string_view>("tokenizer.chat_template", ""));
  return info;
}

Result<std::unique_ptr<Model>> load(const GgufFile& file, const std::filesystem::path& path, TaskPool& pool,
                                    const kernels::Table& table, const LoadOptions& options,
                                    const std::function<void(const LoadProgress&)>& progress) {
  const Architecture& architecture = *TRY(architecture_of(file));
  WeightLoader checker(file, pool, table, WeightLoader::Mode::kCheck);
  DecoderConfig config = TRY(read_config(file, checker));
  ModelInfo info = TRY(read_info(file, path, config));
  info.context_length = TRY(resolve_context(config, options));
  info.rope_scaling = describe(config.rope);
  info.notes = config.notes;
  TRY(architecture.load({config, checker, pool, table, options.page_tokens}));
  TRY(checker.finish());
  info.fingerprint = fingerprint(file, config, table, options.page_tokens);

  WeightLoader packer(file, pool, table, WeightLoader::Mode::kPack, progress);
  std::unique_ptr<Decoder> model =
      TRY(architecture.load({config, packer, pool, table, options.page_tokens, info.context_length}));
  model->set_info(std::move(info), packer.packed_bytes(), packer.float_share());
  file.drop_pages();
  return model;
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const std::filesystem::path& path, TaskPool& pool,
                                          const kernels::Table& table, const LoadOptions& options,
                                          const std::function<void(const LoadProgress&)>& progress) {
  CHECK(options.page_tokens >= 16 && options.page_tokens % 16 == 0 && 512 % options.page_tokens == 0,
        "{} tokens a page", options.page_tokens);
  const GgufFile file = TRY(GgufFile::open(path));
  auto model = load(file, path, pool, table, options, progress);
  if (!model) model.error().message = fmt::format("{}: {}", path.string(), model.error().message);
  return model;
}

}  // namespace reprise
