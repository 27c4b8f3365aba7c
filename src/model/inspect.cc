#include "model/inspect.h"

#include <algorithm>
#include <map>

#include "base/size.h"
#include "model/architectures.h"
#include "model/config.h"
#include "model/model_file.h"
#include "model/sampling_defaults.h"
#include "model/vocabulary.h"
#include "model/weights.h"

namespace reprise {
namespace {

using Out = std::back_insert_iterator<std::string>;

template <typename... Args>
void line(Out out, const char* label, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(out, "{:<16}", label);
  fmt::format_to(out, format, std::forward<Args>(args)...);
  fmt::format_to(out, "\n");
}

std::string show_count(double count) {
  constexpr const char* kUnits[] = {"", "thousand", "million", "billion", "trillion"};
  size_t i = 0;
  while (count >= 1000 && i + 1 < std::size(kUnits)) {
    count /= 1000;
    ++i;
  }
  return fmt::format("{:.{}f} {}", count, i == 0 ? 0 : 2, kUnits[i]);
}

std::string text_of(const ModelFile& file, std::string_view key) {
  const GgufValue* value = file.value(key);
  const auto* text = value ? std::get_if<std::string_view>(value) : nullptr;
  return text ? printable(*text) : "";
}

uint32_t tokens_in(const ModelFile& file) {
  const GgufValue* value = file.value("tokenizer.ggml.tokens");
  const auto* array = value ? std::get_if<GgufArray>(value) : nullptr;
  return array ? static_cast<uint32_t>(array->strings.size()) : 0;
}

void show_tensors(Out out, const ModelFile& file) {
  struct Sum {
    size_t tensors = 0;
    double elements = 0;
    size_t bytes = 0;
  };
  std::map<std::string, Sum> by_type;
  Sum all;
  for (const GgufTensor& tensor : file.tensors()) {
    for (Sum* sum : {&by_type[tensor.type->name], &all}) {
      ++sum->tensors;
      sum->elements += static_cast<double>(tensor.elements);
      sum->bytes += tensor.byte_count();
    }
  }
  line(out, "parameters", "{} in {} tensors, {}", show_count(all.elements), all.tensors,
       format_size(all.bytes));
  for (const auto& [name, sum] : by_type)
    line(out, "", "{:<8} {:>12} {:>18} in {} tensors", name, format_size(sum.bytes), show_count(sum.elements),
         sum.tensors);
}

void show_config(Out out, const DecoderConfig& c) {
  line(out, "shape", "{} layers, hidden {}, feed-forward {}, vocabulary {}", c.layers, c.hidden,
       c.feed_forward, c.vocabulary);
  line(out, "attention", "{} query heads, {} key-value heads of {}", c.heads, c.kv_heads, c.head_dim);
  if (const auto sliding = c.windows.size() - std::ranges::count(c.windows, 0u); sliding > 0)
    line(out, "", "{} of {} layers see the last {} positions only", sliding, c.layers,
         std::ranges::max(c.windows));
  if (const RouterConfig& r = c.experts.router; r.experts > 0) {
    const std::string shared = c.experts.shared ? fmt::format(", {} shared", c.experts.shared) : "";
    line(out, "experts", "{} of {} elements, {} used{}, in layers from {} on", r.experts, c.experts.inner,
         r.used, shared, c.experts.leading_dense);
  }
  const kernels::Table& table = *kernels::select().value_or(&kernels::ref_table());
  const auto kv_bytes = [&](kernels::KvType type) {  // of a token, padding and scales included
    constexpr uint32_t kPage = 16;
    return table.kv_page_bytes({kPage, c.layers, c.kv_heads, c.head_dim, type}) / kPage;
  };
  const auto show_kv = [&](const char* label, kernels::KvType type, const char* name) {
    const size_t kv = kv_bytes(type);
    line(out, label, "{} ({} bytes, {}); full context {}", format_size(kv), kv, name,
         format_size(kv * c.trained_context));
  };
  const bool reference = &table == &kernels::ref_table();
  show_kv("kv per token", kernels::KvType::kBF16, reference ? "fp32" : "bf16");
  if (!reference) show_kv("", kernels::KvType::kInt8, "--kv-type int8");
  line(out, "context", "{} tokens", c.trained_context);
  line(out, "rope", "base {:g}, {} of {} elements, scaling {}", c.rope.base, c.rope.rotary, c.head_dim,
       describe(c.rope));
  if (c.window_rope) line(out, "", "base {:g} in layers with a window", c.window_rope->base);
  for (const std::string& note : c.notes) line(out, "note", "{}", note);
}

std::string show_token(const Vocabulary& v, std::optional<TokenId> id) {
  if (!id) return "none";
  const auto at = static_cast<size_t>(*id);
  return at < v.tokens.size() ? fmt::format("{} {}", *id, printable(v.tokens[at], 40)) : fmt::to_string(*id);
}

void show_tokenizer(Out out, const ModelFile& file, const Vocabulary& v, uint32_t size,
                    std::vector<std::string>& notes) {
  if (v.tokens.empty() && v.tokenizer_json.empty()) {
    line(out, "tokenizer", "none in the file: token ids only");
    return;
  }
  if (v.tokens.empty()) {
    line(out, "tokenizer", "tokenizer.json, {}", format_size(v.tokenizer_json.size()));
  } else {
    size_t control = 0;
    for (TokenType type : v.types) control += type == TokenType::kControl;
    line(out, "tokenizer", "{}, pre-tokenizer {}, {} tokens ({} control), {} merges", printable(v.model, 40),
         printable(v.pre, 40), v.tokens.size(), control, v.merges.size());
  }
  line(out, "", "bos {} ({}), eos {}, eot {}, pad {}, unknown {}", show_token(v, v.bos),
       v.add_bos ? "prepended" : "not prepended", show_token(v, v.eos), show_token(v, v.eot),
       show_token(v, v.pad), show_token(v, v.unk));
  if (auto stops = read_stop_tokens(file, v, size, notes)) {
    std::string list;
    for (TokenId id : *stops) list += (list.empty() ? "" : ", ") + show_token(v, id);
    line(out, "stop tokens", "{}", list.empty() ? "none" : list);
  }
}

void show_template(Out out, const ModelFile& file) {
  const GgufValue* value = file.value("tokenizer.chat_template");
  const auto* text = value ? std::get_if<std::string_view>(value) : nullptr;
  if (!text || text->empty()) {
    line(out, "chat template", "none");
    return;
  }
  line(out, "chat template", "{} bytes: {}", text->size(), printable(text->substr(0, text->find('\n')), 80));
}

// Why this build cannot serve the file, or nothing.
Result<void> check(const ModelFile& file, const DecoderConfig& config, WeightLoader& weights,
                   TaskPool& pool) {
  const Architecture& architecture = *TRY(architecture_of(file));
  TRY(architecture.load({config, weights, pool, kernels::ref_table(), LoadOptions{}.page_tokens}));
  return weights.finish();
}

std::string report(const ModelFile& file, const std::string& path, const VocabularyCheck& usable) {
  std::string text;
  Out out(text);
  line(out, "file", "{}: {}, {}{}", path, file.container(), format_size(file.bytes()),
       file.parts() > 1 ? fmt::format(" in {} parts", file.parts()) : "");
  if (const std::string name = text_of(file, "general.name"); !name.empty()) line(out, "name", "{}", name);
  line(out, "architecture", "{}", text_of(file, "general.architecture"));

  TaskPool pool(1, /*pin=*/false);
  WeightLoader weights(file, pool, kernels::ref_table(), WeightLoader::Mode::kCheck);
  // What can be said of a file is said, of an unknown architecture as well.
  const auto architecture = architecture_of(file);
  ModelKeys keys(file, text_of(file, "general.architecture"));
  auto config = architecture ? read_config(file, weights) : read_decoder_config(file, keys);
  if (config) show_config(out, *config);
  show_tensors(out, file);
  Result<void> servable;
  if (!architecture)
    servable = std::unexpected(architecture.error());
  else if (!config)
    servable = std::unexpected(config.error());
  else
    servable = check(file, *config, weights, pool);
  std::vector<std::string> notes = file.notes();
  const uint32_t size = config ? config->vocabulary : tokens_in(file);
  if (auto vocabulary = read_vocabulary(file, size, notes)) {
    show_tokenizer(out, file, *vocabulary, size, notes);
    if (servable) servable = usable(*vocabulary);
  } else {
    line(out, "tokenizer", "unreadable: {}", vocabulary.error().message);
    if (servable) servable = std::unexpected(vocabulary.error());
  }
  show_template(out, file);
  if (auto sampling = read_sampling_defaults(file, notes); sampling && !describe(*sampling).empty())
    line(out, "sampling", "{}, unless a request says otherwise", describe(*sampling));
  for (const std::string& note : notes) line(out, "note", "{}", note);
  line(out, "servable", "{}", servable ? "yes" : "no: " + servable.error().message);
  return text;
}

}  // namespace

Result<std::string> inspect_model_file(const std::filesystem::path& path, const VocabularyCheck& usable) {
  const ModelFile file = TRY(ModelFile::open(path));
  return report(file, path.string(), usable);
}

}  // namespace reprise
