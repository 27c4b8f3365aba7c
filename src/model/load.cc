// Loading runs the architecture's loader twice: first checking names, types and shapes only, so that a file
// that cannot be served is refused at once, then packing.
#include "model/load.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/hash.h"
#include "model/architectures.h"
#include "model/config.h"
#include "model/sampling_defaults.h"
#include "model/vocabulary.h"
#include "model/weights.h"

namespace reprise {
namespace {

// Identity of the weights and of everything that changes KV bytes: the whole header, bytes from all over each
// tensor, the table (which decides the KV format), the rotation in force and the page size.
uint64_t fingerprint(const ModelFile& file, const DecoderConfig& config, const kernels::Table& table,
                     const LoadOptions& options) {
  constexpr size_t kSamples = 8, kSampleBytes = 64;
  uint64_t h = 0;
  for (const auto header : file.headers()) h = hash_bytes(header.data(), header.size(), h);
  for (const GgufTensor& tensor : file.tensors()) {
    const auto sample = [&](std::span<const std::byte> bytes) {
      const size_t size = std::min(kSampleBytes, bytes.size());
      for (size_t i = 0; i < kSamples; ++i)
        h = hash_bytes(bytes.data() + (bytes.size() - size) / (kSamples - 1) * i, size, h);
    };
    sample(tensor.bytes);
    for (const auto part : tensor.parts) sample(part);
  }
  h = hash(table.name, h);
  const Rope rope(config.rope);
  h = hash_bytes(rope.frequencies().data(), rope.frequencies().size_bytes(), h);
  const double magnitude = rope.magnitude();
  h = hash_bytes(&magnitude, sizeof magnitude, h);
  h = hash_bytes(&options.kv_type, sizeof options.kv_type, h);
  return hash_bytes(&options.page_tokens, sizeof options.page_tokens, h);
}

std::vector<std::pair<std::string, uint64_t>> weight_types(const ModelFile& file) {
  std::vector<std::pair<std::string, uint64_t>> sums;
  for (const GgufTensor& tensor : file.tensors()) {
    auto sum = std::ranges::find(sums, tensor.type->name, &std::pair<std::string, uint64_t>::first);
    if (sum == sums.end()) sum = sums.insert(sums.end(), {tensor.type->name, 0});
    sum->second += tensor.byte_count();
  }
  std::ranges::sort(sums, std::ranges::greater(), &std::pair<std::string, uint64_t>::second);
  return sums;
}

Result<ModelInfo> read_info(const ModelFile& file, const std::filesystem::path& path,
                            const DecoderConfig& config) {
  ModelInfo info;
  info.notes = file.notes();
  info.name = TRY(file.get_or<std::string_view>("general.name", ""));
  if (info.name.empty()) info.name = path.stem().string();
  info.architecture = config.architecture;
  info.trained_context = config.trained_context;
  info.vocabulary = TRY(read_vocabulary(file, config.vocabulary, info.notes));
  info.stop_tokens = TRY(read_stop_tokens(file, info.vocabulary, config.vocabulary, info.notes));
  info.sampling = TRY(read_sampling_defaults(file, info.notes));
  info.chat_template = TRY(file.get_or<std::string_view>("tokenizer.chat_template", ""));
  return info;
}

Result<std::unique_ptr<Model>> load(const ModelFile& file, const std::filesystem::path& path, TaskPool& pool,
                                    const kernels::Table& table, const LoadOptions& options,
                                    const std::function<void(const LoadProgress&)>& progress) {
  const Architecture& architecture = *TRY(architecture_of(file));
  WeightLoader checker(file, pool, table, WeightLoader::Mode::kCheck);
  DecoderConfig config = TRY(read_config(file, checker));
  ModelInfo info = TRY(read_info(file, path, config));
  info.context_length = TRY(resolve_context(config, options));
  info.rope_scaling = describe(config.rope);
  info.kv_type = &table == &kernels::ref_table()             ? "fp32"
                 : options.kv_type == kernels::KvType::kInt8 ? "int8"
                                                             : "bf16";
  info.weight_types = weight_types(file);
  info.notes.insert(info.notes.begin(), config.notes.begin(), config.notes.end());
  TRY(architecture.load({config, checker, pool, table, options.page_tokens}));
  TRY(checker.finish());
  info.fingerprint = fingerprint(file, config, table, options);

  WeightLoader packer(file, pool, table, WeightLoader::Mode::kPack, progress);
  std::unique_ptr<Decoder> model = TRY(architecture.load(
      {config, packer, pool, table, options.page_tokens, info.context_length, options.kv_type}));
  model->set_info(std::move(info), packer.sums());
  file.drop_pages();
  return model;
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(const std::filesystem::path& path, TaskPool& pool,
                                          const kernels::Table& table, const LoadOptions& options,
                                          const std::function<void(const LoadProgress&)>& progress) {
  CHECK(options.page_tokens >= 16 && options.page_tokens % 16 == 0 && 512 % options.page_tokens == 0,
        "{} tokens a page", options.page_tokens);
  const ModelFile file = TRY(ModelFile::open(path));
  auto model = load(file, path, pool, table, options, progress);
  if (!model) model.error().message = fmt::format("{}: {}", path.string(), model.error().message);
  return model;
}

}  // namespace reprise
