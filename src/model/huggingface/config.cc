// Fields are taken by tables (families.h); what is no copy of a number has a function here. Of the fields
// that are left over, those that could change the computation must have the value that means nothing.
#include "model/huggingface/config.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "model/huggingface/json.h"
#include "model/rope.h"

namespace reprise {
namespace json = boost::json;
namespace {

std::unexpected<Error> unsupported(std::string_view field, std::string why) {
  return std::unexpected(
      Error{ErrorKind::kUnsupported, fmt::format("config.json: {}: {}", field, why), std::string(field)});
}

std::string shown(const json::value& value) { return printable(json::serialize(value), 60); }

const json::value* find(const json::object& fields, std::string_view name) {
  const json::value* value = fields.if_contains(name);
  return value && !value->is_null() ? value : nullptr;  // transformers writes null for "not set"
}

// Writes keys with the architecture's prefix.
class Keys {
 public:
  Keys(const json::object& fields, std::string_view architecture, ModelFile& file)
      : fields_(fields), prefix_(std::string(architecture) + "."), file_(file) {}

  void put(std::string_view key, GgufValue value) {
    file_.add_key(file_.keep(prefix_ + std::string(key)), value);
  }
  Result<void> copy(const ConfigField& f) {
    const json::value* value = find(fields_, f.field);
    if (!value) return {};
    if (const auto whole = to_unsigned(*value)) {
      put(f.key, *whole);
    } else if (const auto number = to_number(*value)) {
      put(f.key, *number);
    } else if (value->is_bool()) {
      put(f.key, value->get_bool());
    } else {
      return invalid_param(std::string(f.field), "config.json: {} is {}, wanted a number", f.field,
                           shown(*value));
    }
    return {};
  }

 private:
  const json::object& fields_;
  std::string prefix_;
  ModelFile& file_;
};

// Fields that ask for another computation unless they have this value (or are absent or null).
struct Neutral {
  std::string_view field, value;
};
constexpr Neutral kNeutral[] = {
    {"attn_logit_softcapping", "0"},
    {"final_logit_softcapping", "0"},
    {"use_bidirectional_attention", "false"},

    {"logit_scale", "1"},
    {"embedding_multiplier", "1"},
    {"residual_multiplier", "1"},
    {"attention_multiplier", "0"},
    {"num_experts", "0"},
    {"num_local_experts", "0"},
    {"n_routed_experts", "0"},
    {"decoder_sparse_step", "1"},
    {"swiglu_limit", "7"},
    {"swiglu_alpha", "1.702"},
    {"mlp_only_layers", "[]"},
};

// Of the whole configuration, or of a text model's within it.
Result<void> check_unquantised(const json::object& config) {
  if (find(config, "quantization_config") || find(config, "compression_config"))
    return unsupported("quantization_config",
                       "quantised checkpoints are not supported: use the model's BF16 folder or a GGUF file");
  return {};
}

Result<void> check_neutral(const HuggingFaceFamily& family, const json::object& fields) {
  for (const Neutral& n : kNeutral) {
    const json::value* value = find(fields, n.field);
    if (!value || std::ranges::find(family.fields, n.field, &ConfigField::field) != family.fields.end())
      continue;
    const auto number = to_number(*value);
    if (number ? fmt::format("{:g}", *number) != n.value : json::serialize(*value) != n.value)
      return unsupported(n.field,
                         fmt::format("{} is not supported for {}", shown(*value), family.model_type));
  }
  for (const char* name : {"hidden_act", "hidden_activation"})
    if (const json::value* act = find(fields, name);
        act && *act != json::string(family.activation) && !(family.activation == "silu" && *act == "swish"))
      return unsupported(name,
                         fmt::format("{} is not supported (supported: {})", shown(*act), family.activation));
  return {};
}

// Fields that are read by name in this file, and ones without effect on what is computed.
constexpr std::string_view kKnownFields[] = {
    "compression_config", "head_dim", "hidden_act", "hidden_activation", "layer_types", "model_type",
    "partial_rotary_factor", "quantization_config", "query_pre_attn_scalar", "rope_parameters",
    "rope_scaling", "rope_theta", "sliding_window", "sliding_window_pattern", "text_config",
    "tie_word_embeddings", "use_sliding_window",
    // The same as layer_types, which is always beside it; the layers from which windows slide, where they do.
    "_sliding_window_pattern", "max_window_layers", "_attn_implementation_autoset", "_name_or_path",
    "architectures", "attention_dropout", "auto_map", "aux_loss_alpha", "bos_token_id",
    "cache_implementation", "dtype", "eos_token_id", "id2label", "initial_context_length",
    "initializer_range", "label2id", "num_nextn_predict_layers", "output_attentions", "output_hidden_states",
    "output_router_logits", "pad_token_id", "pretraining_tp", "return_dict", "router_aux_loss_coef",
    "seq_aux", "torch_dtype", "transformers_version", "unsloth_fixed", "use_cache"};

// As keys of a GGUF file that nobody knows are noted.
void note_unknown_fields(const HuggingFaceFamily& family, const json::object& fields, ModelFile& file) {
  for (const auto& [key, value] : fields) {
    const std::string_view name(key);
    if (value.is_null() || std::ranges::find(kKnownFields, name) != std::end(kKnownFields) ||
        std::ranges::find(kNeutral, name, &Neutral::field) != std::end(kNeutral) ||
        std::ranges::find(family.fields, name, &ConfigField::field) != family.fields.end() ||
        std::ranges::find(common_fields(), name, &ConfigField::field) != common_fields().end())
      continue;
    file.note(fmt::format("config.json: {} is not known and was ignored", printable(name, 60)));
  }
}

double number_or(const json::object& fields, std::string_view name, double fallback) {
  const json::value* value = find(fields, name);
  return value ? to_number(*value).value_or(std::nan("")) : fallback;
}

// Llama 3.1's divisors of each pair's frequency (Llama 3.1 reference code, apply_scaling), as converters
// compute them.
Result<void> add_llama3_divisors(const json::object& rope, double base, uint64_t head_dim, ModelFile& file) {
  const double factor = number_or(rope, "factor", 8), low = number_or(rope, "low_freq_factor", 1),
               high = number_or(rope, "high_freq_factor", 4),
               context = number_or(rope, "original_max_position_embeddings", 8192);
  if (!(factor >= 1) || !(low > 0) || !(high > low) || !(context > 0) || !(base > 1) || head_dim < 2 ||
      head_dim > 65536)
    return invalid_param("rope_scaling", "config.json: rope_scaling: its numbers make no sense: {}",
                         shown(rope));
  std::vector<std::byte> bytes;
  for (uint64_t i = 0; i < head_dim / 2; ++i) {
    const double wavelength =
        2 * std::numbers::pi * std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
    float divisor = 1;
    if (wavelength > context / low) {
      divisor = static_cast<float>(factor);
    } else if (wavelength > context / high) {
      const double smooth = (context / wavelength - low) / (high - low);
      divisor = static_cast<float>(1 / ((1 - smooth) / factor + smooth));
    }
    const auto* raw = reinterpret_cast<const std::byte*>(&divisor);
    bytes.insert(bytes.end(), raw, raw + sizeof divisor);
  }
  GgufTensor tensor{.name = "rope_freqs.weight", .type = gguf_type(0), .dimensions = 1};
  tensor.size[0] = tensor.elements = head_dim / 2;
  tensor.bytes = file.keep(std::move(bytes));
  file.add_tensor(tensor);
  return {};
}

std::string rope_kind(const json::object& rope) {
  const json::value* type = find(rope, "rope_type");
  if (!type) type = find(rope, "type");
  return !type ? "default" : type->is_string() ? std::string(type->get_string()) : shown(*type);
}

// rope_theta and rope_scaling, or rope_parameters of transformers 5, which holds both.
Result<void> read_rope(const json::object& fields, uint64_t head_dim, Keys& keys, ModelFile& file) {
  const json::value* scaling = find(fields, "rope_parameters");
  if (!scaling) scaling = find(fields, "rope_scaling");
  static const json::object kNone;
  const json::object* rope = scaling ? scaling->if_object() : &kNone;
  if (!rope) return invalid_param("rope_scaling", "config.json: rope_scaling is no object");
  // Of layers that slide a window and of those that do not.
  if (const json::value* sliding = find(*rope, "sliding_attention"); sliding && sliding->is_object()) {
    if (const std::string kind = rope_kind(sliding->get_object()); kind != "default")
      return unsupported("rope_parameters",
                         fmt::format("type {} of sliding_attention is not supported", printable(kind, 40)));
    keys.put("rope.freq_base_swa", number_or(sliding->get_object(), "rope_theta", 10000));
  }
  if (const json::value* full = find(*rope, "full_attention"); full && full->is_object())
    rope = &full->get_object();
  if (const double rotated =
          number_or(*rope, "partial_rotary_factor", number_or(fields, "partial_rotary_factor", 1));
      rotated != 1) {
    if (!(rotated > 0 && rotated < 1))
      return invalid_param("partial_rotary_factor", "config.json: partial_rotary_factor is {}, wanted 0 to 1",
                           rotated);
    keys.put("rope.dimension_count",
             static_cast<uint64_t>(std::lrint(rotated * static_cast<double>(head_dim))));
  }
  const double base = number_or(*rope, "rope_theta", number_or(fields, "rope_theta", 10000));
  keys.put("rope.freq_base", base);

  const std::string kind = rope_kind(*rope);
  if (kind == "default") return {};
  if (kind == "llama3") return add_llama3_divisors(*rope, base, head_dim, file);
  if (kind != "linear" && kind != "yarn")
    return unsupported(
        "rope_scaling",
        fmt::format("type {} is not supported (supported: linear, yarn, llama3)", printable(kind, 40)));
  const double factor = number_or(*rope, "factor", 1);
  keys.put("rope.scaling.type", file.keep(kind));
  keys.put("rope.scaling.factor", factor);
  if (kind == "linear") return {};
  keys.put("rope.scaling.yarn_beta_fast", number_or(*rope, "beta_fast", 32));
  keys.put("rope.scaling.yarn_beta_slow", number_or(*rope, "beta_slow", 1));
  if (const json::value* original = find(*rope, "original_max_position_embeddings"))
    keys.put("rope.scaling.original_context_length", to_unsigned(*original).value_or(0));
  const json::value* truncate = find(*rope, "truncate");
  if (truncate && !truncate->is_bool())
    return invalid_param("rope_scaling", "config.json: truncate is {}, wanted true or false",
                         shown(*truncate));
  keys.put("rope.scaling.yarn_truncate", !truncate || truncate->get_bool());
  if (const double beta = number_or(*rope, "llama_4_scaling_beta", 0); beta != 0)
    keys.put("attention.temperature_scale", beta);
  // The factor of cosine and sine, where it is not 0.1 ln(factor) + 1.
  const double mscale = number_or(*rope, "mscale", 0), mscale_all = number_or(*rope, "mscale_all_dim", 0);
  if (find(*rope, "attention_factor"))
    keys.put("rope.scaling.yarn_attn_factor", number_or(*rope, "attention_factor", 1));
  else if (mscale != 0 && mscale_all != 0)
    keys.put("rope.scaling.yarn_attn_factor",
             yarn_magnitude(factor, mscale) / yarn_magnitude(factor, mscale_all));
  return {};
}

// The window, and which layers slide it when the configuration lists them.
Result<void> read_window(const json::object& fields, uint64_t layers, Keys& keys, ModelFile& file) {
  const json::value* use = find(fields, "use_sliding_window");
  const bool window = find(fields, "sliding_window") && !(use && *use == false);
  if (window) TRY(keys.copy({"sliding_window", "attention.sliding_window"}));
  const json::value* types = find(fields, "layer_types");
  if (!types)
    return window ? keys.copy({"sliding_window_pattern", "attention.sliding_window_pattern"})
                  : Result<void>();
  if (!types->is_array()) return invalid_param("layer_types", "config.json: layer_types is no list");
  if (types->get_array().size() != layers)
    return invalid_param("layer_types", "config.json: layer_types has {} entries, num_hidden_layers is {}",
                         types->get_array().size(), layers);
  std::vector<std::byte> slides;
  for (const json::value& type : types->get_array()) {
    if (type != "sliding_attention" && type != "full_attention")
      return unsupported("layer_types", fmt::format("{} is not supported", shown(type)));
    if (type == "sliding_attention" && !window)
      return invalid_param("layer_types",
                           "config.json: layer_types: a layer slides a window, but there is none");
    slides.push_back(std::byte{type == "sliding_attention"});
  }
  if (!window) return {};
  GgufArray flags{.element = 7, .count = slides.size()};
  flags.raw = file.keep(std::move(slides));
  keys.put("attention.sliding_window_pattern", std::move(flags));
  return {};
}

std::vector<uint64_t> token_ids(const json::value& value) {
  std::vector<uint64_t> ids;
  const auto add = [&](const json::value& v) {
    if (const auto id = to_unsigned(v); id && *id < (uint64_t{1} << 31)) ids.push_back(*id);
  };
  if (value.is_array()) {
    for (const json::value& v : value.get_array()) add(v);
  } else {
    add(value);
  }
  return ids;
}

std::unexpected<Error> unknown_type(std::string_view name) {
  std::string names;
  for (const HuggingFaceFamily& family : families())
    names += (names.empty() ? "" : ", ") + std::string(family.model_type);
  for (const HuggingFaceWrapper& wrapper : wrappers()) names += ", " + std::string(wrapper.model_type);
  return unsupported("model_type",
                     fmt::format("\"{}\" is not supported (supported: {})", printable(name, 60), names));
}

}  // namespace

void add_token_ids(std::string_view key, std::span<const uint64_t> ids, ModelFile& file) {
  std::vector<std::byte> raw(ids.size() * sizeof(int32_t));
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<int32_t>(ids[i]);
    std::memcpy(raw.data() + i * sizeof id, &id, sizeof id);
  }
  GgufArray array{.element = 5, .count = ids.size()};
  array.raw = file.keep(std::move(raw));
  file.add_key(key, std::move(array));
}

Result<HuggingFaceConfig> read_huggingface_config(const json::object& config, ModelFile& file) {
  const json::value* type = find(config, "model_type");
  if (!type || !type->is_string()) return invalid_param("model_type", "config.json: model_type is missing");
  std::string_view name(type->get_string());
  HuggingFaceConfig result;
  const json::object* text = &config;
  const auto wrapper = std::ranges::find(wrappers(), name, &HuggingFaceWrapper::model_type);
  if (wrapper != wrappers().end()) {
    const json::value* nested = find(config, "text_config");
    if (!nested || !nested->is_object())
      return invalid_param("text_config", "config.json: text_config is missing or no object");
    text = &nested->get_object();
    const json::value* inner = find(*text, "model_type");
    name = inner && inner->is_string() ? std::string_view(inner->get_string()) : wrapper->text;
    result.nested = true;
  }
  result.family = family_named(name);
  if (!result.family) return unknown_type(name);
  const HuggingFaceFamily& family = *result.family;
  TRY(check_unquantised(config));
  TRY(check_unquantised(*text));
  json::object fields = parse_object(family.defaults).value();
  for (const auto& [name, value] : *text) {
    // A field given by one of its names takes back the default of the others.
    const auto given = std::ranges::find(family.fields, std::string_view(name), &ConfigField::field);
    for (const ConfigField& other : family.fields)
      if (given != family.fields.end() && other.key == given->key && !text->contains(other.field))
        fields.erase(other.field);
    fields[name] = value;  // null takes a default back
  }
  TRY(check_neutral(family, fields));

  file.add_key("general.architecture", family.architecture);
  Keys keys(fields, family.architecture, file);
  for (const ConfigField& f : common_fields()) TRY(keys.copy(f));
  for (const ConfigField& f : family.fields) TRY(keys.copy(f));
  const auto heads = to_unsigned(fields["num_attention_heads"]), hidden = to_unsigned(fields["hidden_size"]);
  uint64_t head_dim = heads && hidden && *heads > 0 ? *hidden / *heads : 0;
  if (const json::value* given = find(fields, "head_dim")) head_dim = to_unsigned(*given).value_or(0);
  result.layers = to_unsigned(fields["num_hidden_layers"]).value_or(0);
  TRY(read_window(fields, result.layers, keys, file));
  TRY(read_rope(fields, head_dim, keys, file));
  if (const double scalar = number_or(fields, "query_pre_attn_scalar", 0); scalar > 0)
    keys.put("attention.scale", 1 / std::sqrt(scalar));
  // The rows of q and k lie as transformers rotates them: pairs (i, i + half).
  keys.put("rope.interleaved", false);

  const json::value* tied = find(fields, "tie_word_embeddings");
  if (!tied) tied = find(config, "tie_word_embeddings");
  result.tied = tied && *tied == true;
  note_unknown_fields(family, *text, file);
  return result;
}

Result<void> read_generation_config(const json::object* generation, const json::object& config,
                                    ModelFile& file) {
  static const json::object kNone;
  const json::object& g = generation ? *generation : kNone;
  constexpr ConfigField kSampling[] = {{"temperature", "temp"},
                                       {"top_p", "top_p"},
                                       {"top_k", "top_k"},
                                       {"min_p", "min_p"},
                                       {"repetition_penalty", "penalty_repeat"}};
  for (const ConfigField& f : kSampling)
    if (const json::value* value = find(g, f.field)) {
      const auto number = to_number(*value);
      if (!number)
        return invalid_param(std::string(f.field), "generation_config.json: {} is {}, wanted a number",
                             f.field, shown(*value));
      file.add_key(file.keep("general.sampling." + std::string(f.key)), *number);
    }
  const auto either = [&](std::string_view name) {
    const json::value* value = find(g, name);
    if (!value) value = find(config, name);
    if (!value)
      if (const json::value* text = find(config, "text_config"); text && text->is_object())
        value = find(text->get_object(), name);
    return value;
  };
  if (const json::value* bos = either("bos_token_id"))
    if (const auto ids = token_ids(*bos); !ids.empty()) file.add_key("tokenizer.ggml.bos_token_id", ids[0]);
  if (const json::value* pad = either("pad_token_id"))
    if (const auto ids = token_ids(*pad); !ids.empty())
      file.add_key("tokenizer.ggml.padding_token_id", ids[0]);
  if (const json::value* eos = either("eos_token_id"))
    if (const auto ids = token_ids(*eos); !ids.empty()) {
      file.add_key("tokenizer.ggml.eos_token_id", ids[0]);
      add_token_ids("tokenizer.ggml.eos_token_ids", ids, file);
    }
  return {};
}

}  // namespace reprise
