#include "model/huggingface/tensor_names.h"

#include <algorithm>
#include <optional>

#include "model/model_file.h"

namespace reprise {
namespace {

constexpr std::string_view kNumber = "{}";
constexpr std::string_view kOtherParts[] = {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                            "model.multi_modal_projector."};

constexpr size_t kMaxNumbers = 2;  // a layer's, an expert's

struct Match {
  uint32_t numbers[kMaxNumbers] = {};
  size_t count = 0;
};

// The numbers that stand for {} in `pattern` when `name` matches it.
std::optional<Match> match(std::string_view pattern, std::string_view name) {
  Match found;
  while (true) {
    const size_t at = pattern.find(kNumber);
    if (at == std::string_view::npos) return pattern == name ? std::optional(found) : std::nullopt;
    if (!name.starts_with(pattern.substr(0, at))) return std::nullopt;
    name.remove_prefix(at);
    pattern.remove_prefix(at + kNumber.size());
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits == 0 || digits > 6 || (digits > 1 && name[0] == '0')) return std::nullopt;
    uint32_t& number = found.numbers[found.count++];
    for (const char c : name.substr(0, digits)) number = number * 10 + static_cast<uint32_t>(c - '0');
    name.remove_prefix(digits);
  }
}

}  // namespace

std::optional<std::string> name_in_text_model(std::string_view name) {
  for (const std::string_view part : kOtherParts)
    if (name.starts_with(part)) return std::nullopt;
  // As the hub's checkpoints have them, and as transformers' model classes do.
  constexpr std::string_view kBefore = "language_model.", kWithin = "model.language_model.";
  if (name.starts_with(kWithin)) return "model." + std::string(name.substr(kWithin.size()));
  if (name.starts_with(kBefore)) name.remove_prefix(kBefore.size());
  return std::string(name);
}

Result<std::vector<GgufName>> gguf_tensor_names(const HuggingFaceFamily& family, std::string_view name,
                                                uint64_t layers) {
  std::vector<GgufName> results;
  if (name.ends_with("rotary_emb.inv_freq")) return results;  // computed from config.json
  constexpr std::string_view kLayers = "model.layers.";
  if (family.extra_layers && name.starts_with(kLayers)) {
    const size_t end = std::min(name.find('.', kLayers.size()), name.size());
    const auto layer = match(kNumber, name.substr(kLayers.size(), end - kLayers.size()));
    if (layer && layer->numbers[0] >= layers) return results;
  }
  const size_t dot = std::min(name.rfind('.'), name.size());
  std::string_view kind = name.substr(dot), stem = name.substr(0, dot);
  if (kind != ".weight" && kind != ".bias") stem = name, kind = "";
  const auto experts = family.experts ? expert_tensors() : std::span<const TensorName>();
  for (const auto table : {family.tensors, experts, common_tensors()})
    for (const TensorName& t : table)
      // Only matrices of experts are stacked.
      if (const auto found = match(t.from, stem);
          found && kind.empty() == (t.to.find('.') != t.to.npos) && (found->count < 2 || kind == ".weight")) {
        GgufName result;
        if (found->count > 0) result.name = fmt::format("blk.{}.", found->numbers[0]);
        result.name += std::string(t.to) + std::string(kind);
        if (found->count == 2) result.expert = found->numbers[1];
        if (t.every > 1 || t.transposed) result.of_columns = &t;
        results.push_back(std::move(result));
        if (t.every == results.size()) return results;
      }
  return std::unexpected(Error{
      ErrorKind::kUnsupported,
      fmt::format("tensor {} is not part of {} models as supported here", printable(name), family.model_type),
      printable(name)});
}

}  // namespace reprise
