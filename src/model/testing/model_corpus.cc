#include "model/testing/model_corpus.h"

#include <string_view>

#include <fmt/format.h>

#include "model/testing/gguf_writer.h"
#include "model/testing/safetensors_writer.h"
#include "model/testing/tiny_llama.h"

namespace reprise::testing {
namespace {

// Seeds of one target, by "TARGET/NAME".
class Seeds {
 public:
  Seeds(Corpus& corpus, std::string target) : corpus_(corpus), target_(std::move(target)) {}
  void add(const std::string& name, std::vector<std::byte> bytes) {
    corpus_[target_ + "/" + name] = std::move(bytes);
  }

 private:
  Corpus& corpus_;
  std::string target_;
};

// A header of two keys with tensors as given, and 64 bytes of data.
struct Claimed {
  std::vector<uint64_t> sizes;
  uint32_t type;
  uint64_t offset;
};
std::vector<std::byte> claiming(const std::vector<Claimed>& tensors, uint64_t count) {
  Bytes out;
  out.number<uint32_t>(0x46554747).number<uint32_t>(3).number(count).number<uint64_t>(1);
  out.string("general.architecture").number<uint32_t>(8).string("llama");
  for (size_t i = 0; i < tensors.size(); ++i) {
    out.string("t" + std::to_string(i)).number(static_cast<uint32_t>(tensors[i].sizes.size()));
    for (const uint64_t size : tensors[i].sizes) out.number(size);
    out.number(tensors[i].type).number(tensors[i].offset);
  }
  out.pad(32);
  out.raw(std::vector<std::byte>(64));
  return out.data();
}

// Sums and products of sizes, counts and offsets that wrap around 2^64 or 2^32 (the patterns of
// CVE-2025-53630, CVE-2026-27940, CVE-2026-7482 and CVE-2026-53923).
void add_wrapping(Seeds& seeds) {
  constexpr uint64_t k2to32 = uint64_t{1} << 32, k2to62 = uint64_t{1} << 62, k2to63 = uint64_t{1} << 63;
  // The padded sizes of several tensors add up to little.
  seeds.add(
      "sum_of_sizes_wraps.gguf",
      claiming({{{k2to62 - 8}, 24, 0}, {{k2to62 - 8}, 24, 0}, {{k2to62 - 8}, 24, 0}, {{k2to62 + 64}, 24, 0}},
               4));
  seeds.add("size_near_the_end.gguf", claiming({{{~uint64_t{0} - 30}, 24, 0}}, 1));
  // So many tensors that the table's size wraps.
  seeds.add("count_of_tensors_wraps.gguf", claiming({{{8}, 0, 0}}, ~uint64_t{0} / 368 + 2));
  seeds.add("count_of_tensors_is_all.gguf", claiming({{{8}, 0, 0}}, ~uint64_t{0}));
  // Offset and size reach past the file, with and without a sum that wraps.
  seeds.add("past_the_end.gguf", claiming({{{16}, 0, 32}}, 1));
  seeds.add("offset_wraps.gguf", claiming({{{16}, 0, ~uint64_t{0} - 31}}, 1));
  seeds.add("offset_is_the_end.gguf", claiming({{{1}, 0, 64}}, 1));
  // Elements that come out small when their count is cut to 32 or wraps at 64 bits.
  seeds.add("cut_to_32_bits.gguf", claiming({{{k2to32 + 16}, 0, 0}}, 1));
  seeds.add("product_wraps.gguf", claiming({{{k2to32, k2to32, 4}, 0, 0}}, 1));
  seeds.add("bytes_wrap.gguf", claiming({{{k2to63 / 2 + 4}, 0, 0}}, 1));
  seeds.add("rows_wrap.gguf", claiming({{{32, k2to63 / 16}, 8, 0}}, 1));
}

// A folder of the layout of huggingface_fuzz.
std::vector<std::byte> folder_of(std::string_view config, std::string_view generation,
                                 std::string_view tokenizer, std::span<const std::byte> weights,
                                 std::string_view tokenizer_config = "", std::string_view index = "") {
  Bytes out;
  for (const std::string_view text : {config, generation, tokenizer, tokenizer_config, index})
    out.raw(std::as_bytes(std::span(text))).number<uint8_t>(0);
  out.raw(weights);
  return out.data();
}

void add_folders(Seeds& seeds) {
  const auto config = [](const char* type, const char* more = "") {
    return std::string(R"({"model_type":")") + type +
           R"(","num_hidden_layers":1,"hidden_size":32,"intermediate_size":32,"num_attention_heads":2,)"
           R"("num_key_value_heads":1,"head_dim":16,"vocab_size":4,"max_position_embeddings":64,)"
           R"("tie_word_embeddings":true)" +
           more + "}";
  };
  using Shape = std::vector<uint64_t>;
  struct Named {
    std::string name;
    Shape shape;
  };
  const std::vector<Named> attention = {
      {"self_attn.q_proj.weight", {32, 32}}, {"self_attn.k_proj.weight", {16, 32}},
      {"self_attn.v_proj.weight", {16, 32}}, {"self_attn.o_proj.weight", {32, 32}},
      {"input_layernorm.weight", {32}},      {"post_attention_layernorm.weight", {32}}};
  const std::vector<Named> mlp = {{"mlp.gate_proj.weight", {32, 32}},
                                  {"mlp.up_proj.weight", {32, 32}},
                                  {"mlp.down_proj.weight", {32, 32}}};
  const std::vector<Named> head_norms = {{"self_attn.q_norm.weight", {16}},
                                         {"self_attn.k_norm.weight", {16}}};
  const std::vector<Named> qkv_biases = {
      {"self_attn.q_proj.bias", {32}}, {"self_attn.k_proj.bias", {16}}, {"self_attn.v_proj.bias", {16}}};
  const std::vector<Named> narrow_mlp = {
      {"mlp.gate_proj.weight", {8, 32}}, {"mlp.up_proj.weight", {8, 32}}, {"mlp.down_proj.weight", {32, 8}}};
  std::vector<Named> experts = {{"mlp.gate.weight", {2, 32}}};
  for (const char* expert : {"0", "1"}) {
    experts.push_back({fmt::format("mlp.experts.{}.gate_proj.weight", expert), {16, 32}});
    experts.push_back({fmt::format("mlp.experts.{}.up_proj.weight", expert), {16, 32}});
    experts.push_back({fmt::format("mlp.experts.{}.down_proj.weight", expert), {32, 16}});
  }
  const auto weights = [&](const char* type, size_t bytes, std::vector<std::vector<Named>> groups,
                           const std::string& prefix = "") {
    std::vector<SafeTensorToWrite> tensors;
    const auto add = [&](const std::string& name, const Shape& shape) {
      uint64_t elements = 1;
      for (const uint64_t size : shape) elements *= size;
      tensors.push_back(
          {prefix + name, type, shape, std::vector<std::byte>(elements * bytes, std::byte{0x3c})});
    };
    add("model.embed_tokens.weight", {4, 32});
    add("model.norm.weight", {32});
    for (const auto& group : groups)
      for (const Named& tensor : group) add("model.layers.0." + tensor.name, tensor.shape);
    return safetensors(tensors);
  };
  const char* generation = R"({"eos_token_id":[1,2],"temperature":0.6,"top_k":20,"bos_token_id":0})";
  const char* tokenizer = R"({"added_tokens":[{"id":3,"content":"<|im_end|>","special":true}]})";
  const auto bf16 = weights("BF16", 2, {attention, mlp});
  seeds.add("llama", folder_of(config("llama"), generation, tokenizer, bf16));
  seeds.add("llama_f32", folder_of(config("llama", R"(,"intermediate_size":8)"), "{}", "{}",
                                   weights("F32", 4, {attention, narrow_mlp})));
  seeds.add("qwen3_f16", folder_of(config("qwen3"), generation, tokenizer,
                                   weights("F16", 2, {attention, head_norms, mlp})));
  seeds.add("llama3", folder_of(config("llama", R"(,"rope_scaling":{"rope_type":"llama3","factor":8.0,)"
                                                R"("low_freq_factor":1.0,"high_freq_factor":4.0,)"
                                                R"("original_max_position_embeddings":32})"),
                                "{}", "{}", bf16));
  seeds.add("yarn", folder_of(config("llama", R"(,"rope_parameters":{"rope_type":"yarn","factor":4.0,)"
                                              R"("original_max_position_embeddings":16,"rope_theta":1e6})"),
                              "{}", "{}", bf16));
  seeds.add(
      "qwen3_moe",
      folder_of(config("qwen3_moe", R"(,"num_experts":2,"num_experts_per_tok":1,"moe_intermediate_size":16)"),
                generation, tokenizer, weights("BF16", 2, {attention, head_norms, experts})));
  seeds.add(
      "glm4_moe",
      folder_of(
          config("glm4_moe", R"(,"n_routed_experts":2,"num_experts_per_tok":1,"moe_intermediate_size":16,)"
                             R"("first_k_dense_replace":0,"n_shared_experts":0,"attention_bias":true)"),
          generation, tokenizer,
          weights("BF16", 2, {attention, qkv_biases, {{"mlp.gate.e_score_correction_bias", {2}}}, experts})));
  const std::vector<Named> gemma_norms = {{"pre_feedforward_layernorm.weight", {32}},
                                          {"post_feedforward_layernorm.weight", {32}}};
  const char* gemma = R"(,"sliding_window":8,"layer_types":["sliding_attention"],"query_pre_attn_scalar":16)";
  seeds.add("gemma3_text", folder_of(config("gemma3_text", gemma), generation, tokenizer,
                                     weights("BF16", 2, {attention, head_norms, gemma_norms, mlp})));
  seeds.add(
      "gemma3",
      folder_of(R"({"model_type":"gemma3","text_config":)" + config("gemma3_text", gemma) + "}", generation,
                tokenizer, weights("BF16", 2, {attention, head_norms, gemma_norms, mlp}, "language_model.")));
  seeds.add(
      "gpt_oss",
      folder_of(
          config(
              "gpt_oss",
              R"(,"num_local_experts":2,"num_experts_per_tok":1,"sliding_window":1,"intermediate_size":8)"),
          generation, tokenizer,
          weights("BF16", 2,
                  {attention,
                   qkv_biases,
                   {{"self_attn.o_proj.bias", {32}},
                    {"self_attn.sinks", {2}},
                    {"mlp.router.weight", {2, 32}},
                    {"mlp.router.bias", {2}},
                    {"mlp.experts.gate_up_proj", {2, 32, 16}},
                    {"mlp.experts.gate_up_proj_bias", {2, 16}},
                    {"mlp.experts.down_proj", {2, 8, 32}},
                    {"mlp.experts.down_proj_bias", {2, 32}}}})));
  // Experts that a file holds more of than their matrices: read, they were taken from nowhere.
  std::vector<Named> biased = experts;
  biased.push_back({"mlp.experts.0.gate_proj.bias", {16}});
  biased.push_back({"mlp.experts.1.gate_proj.bias", {16}});
  seeds.add(
      "expert_biases",
      folder_of(config("qwen3_moe", R"(,"num_experts":2,"num_experts_per_tok":1,"moe_intermediate_size":16)"),
                "{}", "{}", weights("BF16", 2, {attention, head_norms, biased})));
  std::string in_both;
  for (const char* name : {"embed_tokens", "norm"})
    in_both += fmt::format(R"("model.{}.weight":"model-1.safetensors",)", name);
  for (const auto& group : {attention, mlp})
    for (const Named& tensor : group)
      in_both += fmt::format(R"("model.layers.0.{}":"model-2.safetensors",)", tensor.name);
  in_both.pop_back();
  seeds.add("sharded",
            folder_of(config("llama"), generation, tokenizer, bf16,
                      R"({"add_bos_token":true,"chat_template":[{"name":"default","template":"x"}]})",
                      R"({"weight_map":{)" + in_both + "}}"));
  seeds.add("index_elsewhere", folder_of(config("llama"), "{}", "{}", bf16, R"({"chat_template":"{{"})",
                                         R"({"weight_map":{"model.norm.weight":"../model-1.safetensors"}})"));
  int i = 0;
  for (const char* lie :
       {R"(,"num_hidden_layers":4294967297)", R"(,"hidden_size":18446744073709551615)",
        R"(,"num_attention_heads":0)", R"(,"head_dim":-1)", R"(,"rms_norm_eps":1e400)", R"(,"rope_theta":-1)",
        R"(,"max_position_embeddings":1e30)", R"(,"text_config":{})"})
    seeds.add("lie_" + std::to_string(i++), folder_of(config("llama", lie), "{}", "{}", bf16));
  for (
      const char* header : {
          R"({"t":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
          R"({"t":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})",
          R"({"t":{"dtype":"F32","shape":[16],"data_offsets":[32,96]}})",
          R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,0]}})",
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
          R"({"model.norm.weight":{"dtype":"BF16","shape":[32],"data_offsets":[0,64]}})",
      })
    seeds.add("header_" + std::to_string(i++),
              folder_of(config("llama"), "{}", "{}", safetensors(header, 64)));
  std::vector<std::byte> long_header = bf16;
  for (int b = 0; b < 8; ++b) long_header[static_cast<size_t>(b)] = std::byte{0xff};
  seeds.add("header_length_wraps", folder_of(config("llama"), "{}", "{}", long_header));
}

// Parts of a split file, in the layout of gguf_fuzz: each but the last after its length.
std::vector<std::byte> joined(const std::vector<std::vector<std::byte>>& parts) {
  Bytes out;
  out.raw(std::as_bytes(std::span("GGUS", 4))).number(static_cast<uint8_t>(parts.size() - 1));
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    out.number(static_cast<uint32_t>(parts[i].size())).raw(parts[i]);
  out.raw(parts.back());
  return out.data();
}

void add_gguf(Seeds& seeds) {
  using enum kernels::WeightType;
  const TinyLlama small{.types = {kQ8_0},
                        .layers = 1,
                        .hidden = 32,
                        .heads = 2,
                        .kv_heads = 1,
                        .head_dim = 16,
                        .feed_forward = 32,
                        .vocabulary = 4};
  const auto with = [&](auto&& change) {
    TinyLlama options = small;
    change(options);
    return make_tiny_llama(options);
  };
  const std::vector<std::byte> valid = make_tiny_llama(small).bytes();
  seeds.add("valid_v3.gguf", valid);
  seeds.add("valid_v2.gguf", make_tiny_llama(small).bytes(2));
  seeds.add("mixed_biases_untied.gguf", with([](TinyLlama& o) {
                                          o.types = {kF32, kF16, kBF16, kQ4_0, kQ4_1, kQ8_0};
                                          o.biases = true;
                                          o.tied = false;
                                        }).bytes());
  seeds.add("yarn.gguf", with([](TinyLlama& o) {
                           o.scaling = "yarn";
                           o.factor = 4;
                           o.original_context = 64;
                         }).bytes());
  seeds.add("llama3.gguf", with([](TinyLlama& o) {
                             o.llama3_divisors = true;
                             o.original_context = 64;
                           }).bytes());
  seeds.add("gemma3.gguf", with([](TinyLlama& o) {
                             o.architecture = "gemma3";
                             o.head_norms = o.post_norms = true;
                             o.window = 1;
                           }).bytes());
  seeds.add("mistral3.gguf", with([](TinyLlama& o) {
                               o.architecture = "mistral3";
                               o.scaling = "yarn";
                               o.factor = 4;
                               o.original_context = 1;
                               o.temperature = 0.5f;
                               o.yarn_log_multiplier = 1;
                             }).bytes());
  seeds.add("qwen3.gguf", with([](TinyLlama& o) {
                            o.architecture = "qwen3";
                            o.head_norms = true;
                          }).bytes());
  seeds.add("glm4moe.gguf", with([](TinyLlama& o) {
                              o.architecture = "glm4moe";
                              o.types = {kQ4_0};
                              o.mlp_norm = "post_attention_norm";
                              o.qkv_biases = true;
                              o.prediction_blocks = 1;
                              o.experts = {.count = 4,
                                           .inner = 32,
                                           .shared = 1,
                                           .groups = 2,
                                           .groups_used = 1,
                                           .scale = 2,
                                           .selection_bias = true};
                            }).bytes());
  seeds.add("gpt_oss.gguf", with([](TinyLlama& o) {
                              o.architecture = "gpt-oss";
                              o.mlp_norm = "post_attention_norm";
                              o.sinks = o.biases = true;
                              o.window = 1;
                              o.experts = {.count = 2, .inner = 32, .biases = true};
                            }).bytes());
  seeds.add("qwen3moe.gguf", with([](TinyLlama& o) {
                               o.architecture = "qwen3moe";
                               o.head_norms = true;
                               o.experts = {.count = 2, .used = 1, .inner = 32};
                             }).bytes());
  seeds.add("qwen2.gguf", with([](TinyLlama& o) {
                            o.architecture = "qwen2";
                            o.qkv_biases = true;
                          }).bytes());
  for (const uint32_t parts : {2u, 3u}) {
    std::vector<std::vector<std::byte>> split;
    for (const GgufWriter& part : make_tiny_llama(small).split(parts)) split.push_back(part.bytes());
    seeds.add(fmt::format("split_{}.gguf", parts), joined(split));
    split[1] = split[0];
    seeds.add(fmt::format("split_{}_twice_the_first.gguf", parts), joined(split));
  }
  seeds.add("no_tensors.gguf", GgufWriter().put("general.architecture", "llama").bytes());
  seeds.add(
      "alignment_64.gguf",
      GgufWriter().put("general.alignment", 64u).tensor("t", 0, {2}, std::vector<std::byte>(8)).bytes(3, 64));
  seeds.add("big_endian.gguf", make_tiny_llama(small).bytes(0x03000000));
  for (size_t part : {4, 20, 300, 1200})
    seeds.add("truncated_" + std::to_string(part) + ".gguf",
              {valid.begin(), valid.begin() + static_cast<ptrdiff_t>(part)});
  // One byte of counts, types and sizes set to 0xff, at a few places of the header.
  for (size_t at : {8, 15, 16, 24, 70, 400, 900}) {
    std::vector<std::byte> damaged = valid;
    damaged[at] = std::byte{0xff};
    seeds.add("damaged_" + std::to_string(at) + ".gguf", damaged);
  }
}

}  // namespace

Corpus model_corpus() {
  Corpus corpus;
  Seeds gguf(corpus, "gguf_fuzz"), folders(corpus, "huggingface_fuzz");
  add_wrapping(gguf);
  add_gguf(gguf);
  add_folders(folders);
  return corpus;
}

}  // namespace reprise::testing
