#include "model/inspect.h"

#include <map>

#include "base/size.h"
#include "model/architectures.h"
#include "model/config.h"
#include "model/gguf.h"
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

std::string text_of(const GgufFile& file, std::string_view key) {
  const GgufValue* value = file.value(key);
  const auto* text = value ? std::get_if<std::string_view>(value) : nullptr;
  return text ? printable(*text) : "";
}

uint32_t tokens_in(const GgufFile& file) {
  const GgufValue* value = file.value("tokenizer.ggml.tokens");
  const auto* array = value ? std::get_if<GgufArray>(value) : nullptr;
  return array ? static_cast<uint32_t>(array->strings.size()) : 0;
}

void show_tensors(Out out, const GgufFile& file) {
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
      sum->bytes += tensor.bytes.size();
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
  const size_t kv = size_t{2} * c.layers * c.kv_width() * sizeof(uint16_t);
  line(out, "kv per token", "{} ({} bytes, bf16); full context {}", format_size(kv), kv,
       format_size(kv * c.trained_context));
  line(out, "context", "{} tokens", c.trained_context);
  line(out, "rope", "base {:g}, {} of {} elements, scaling {}", c.rope.base, c.rope.rotary, c.head_dim,
       describe(c.rope));
  for (const std::string& note : c.notes) line(out, "note", "{}", note);
}

std::string show_token(const Vocabulary& v, std::optional<TokenId> id) {
  return id ? fmt::format("{} {}", *id, printable(v.tokens[static_cast<size_t>(*id)], 40)) : "none";
}

void show_tokenizer(Out out, const GgufFile& file, const Vocabulary& v) {
  if (v.tokens.empty()) {
    line(out, "tokenizer", "none in the file: token ids only");
    return;
  }
  size_t control = 0;
  for (TokenType type : v.types) control += type == TokenType::kControl;
  line(out, "tokenizer", "{}, pre-tokenizer {}, {} tokens ({} control), {} merges", printable(v.model, 40),
       printable(v.pre, 40), v.tokens.size(), control, v.merges.size());
  line(out, "", "bos {} ({}), eos {}, eot {}, pad {}, unknown {}", show_token(v, v.bos),
       v.add_bos ? "prepended" : "not prepended", show_token(v, v.eos), show_token(v, v.eot),
       show_token(v, v.pad), show_token(v, v.unk));
  if (auto stops = read_stop_tokens(file, v)) {
    std::string list;
    for (TokenId id : *stops) list += (list.empty() ? "" : ", ") + show_token(v, id);
    line(out, "stop tokens", "{}", list.empty() ? "none" : list);
  }
}

void show_template(Out out, const GgufFile& file) {
  const GgufValue* value = file.value("tokenizer.chat_template");
  const auto* text = value ? std::get_if<std::string_view>(value) : nullptr;
  if (!text || text->empty()) {
    line(out, "chat template", "none");
    return;
  }
  line(out, "chat template", "{} bytes: {}", text->size(), printable(text->substr(0, text->find('\n')), 80));
}

// Why this build cannot serve the file, or nothing.
Result<void> check(const GgufFile& file, const DecoderConfig& config, WeightLoader& weights, TaskPool& pool) {
  const Architecture& architecture = *TRY(architecture_of(file));
  TRY(architecture.load({config, weights, pool, kernels::ref_table(), LoadOptions{}.page_tokens}));
  return weights.finish();
}

std::string report(const GgufFile& file, const std::string& path, const VocabularyCheck& usable) {
  std::string text;
  Out out(text);
  line(out, "file", "{}: GGUF v{}, {}", path, file.version(), format_size(file.bytes()));
  if (const std::string name = text_of(file, "general.name"); !name.empty()) line(out, "name", "{}", name);
  line(out, "architecture", "{}", text_of(file, "general.architecture"));

  TaskPool pool(1, /*pin=*/false);
  WeightLoader weights(file, pool, kernels::ref_table(), WeightLoader::Mode::kCheck);
  // What can be said of a file is said, of an unknown architecture as well.
  const auto architecture = architecture_of(file);
  auto config = architecture ? read_config(file, weights) : read_decoder_config(file);
  if (config) show_config(out, *config);
  show_tensors(out, file);
  Result<void> servable;
  if (!architecture)
    servable = std::unexpected(architecture.error());
  else if (!config)
    servable = std::unexpected(config.error());
  else
    servable = check(file, *config, weights, pool);
  if (auto vocabulary = read_vocabulary(file, config ? config->vocabulary : tokens_in(file))) {
    show_tokenizer(out, file, *vocabulary);
    if (servable) servable = usable(*vocabulary);
  } else {
    line(out, "tokenizer", "unreadable: {}", vocabulary.error().message);
    if (servable) servable = std::unexpected(vocabulary.error());
  }
  show_template(out, file);
  line(out, "servable", "{}", servable ? "yes" : "no: " + servable.error().message);
  return text;
}

}  // namespace

Result<std::string> inspect_model_file(const std::filesystem::path& path, const VocabularyCheck& usable) {
  const GgufFile file = TRY(GgufFile::open(path));
  return report(file, path.string(), usable);
}

}  // namespace reprise
