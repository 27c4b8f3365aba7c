// Folders that cannot be served: each is refused in one line that names the file, field or tensor. Those that
// can are in tests/golden/folders_test.cc.
#include "model/huggingface/folder.h"

#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "model/huggingface/config.h"
#include "model/huggingface/json.h"
#include "model/huggingface/tensor_names.h"
#include "model/rope.h"
#include "model/sampling_defaults.h"
#include "model/testing/safetensors_writer.h"
#include "model/vocabulary.h"

namespace reprise {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::write_file;

// The configuration of a folder that is fine, with one field changed; null takes it out.
json::object config_with(std::string_view field = "", const json::value& value = nullptr) {
  json::object config = parse_object(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
      "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 320,
      "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "tie_word_embeddings": true})")
                            .value();
  if (!field.empty() && value.is_null()) config.erase(field);
  if (!field.empty() && !value.is_null()) config[field] = value;
  return config;
}

std::string refusal(const json::object& config) {
  ModelFile file;
  auto read = read_huggingface_config(config, file);
  return read ? "no error" : read.error().message;
}
json::value parsed(const char* text) { return json::parse(text); }

TEST(HuggingFaceConfig, BecomesGgufsKeys) {
  ModelFile file;
  const auto read =
      read_huggingface_config(config_with("rope_scaling", parsed(R"({"type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 64})")),
                              file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->tied);
  EXPECT_EQ(*file.require<std::string_view>("general.architecture"), "llama");
  EXPECT_EQ(*file.require<uint32_t>("llama.block_count"), 2u);
  EXPECT_EQ(*file.require<uint32_t>("llama.attention.head_count_kv"), 2u);
  EXPECT_EQ(*file.require<float>("llama.attention.layer_norm_rms_epsilon"), 1e-5f);
  EXPECT_EQ(*file.require<double>("llama.rope.freq_base"), 10000.0);
  EXPECT_EQ(*file.require<std::string_view>("llama.rope.scaling.type"), "yarn");
  EXPECT_EQ(*file.require<uint32_t>("llama.rope.scaling.original_context_length"), 64u);
  EXPECT_EQ(file.value("llama.rope.scaling.attn_factor"), nullptr);
  EXPECT_FALSE(*file.require<bool>("llama.rope.interleaved"));
  EXPECT_EQ(file.value("llama.attention.sliding_window"), nullptr);
}

TEST(HuggingFaceConfig, FieldsThatTransformersLeavesOutHaveItsDefaults) {
  ModelFile mistral;
  json::object config = config_with("model_type", "mistral");
  config.erase("num_key_value_heads");
  config.erase("rms_norm_eps");
  config.erase("tie_word_embeddings");
  const auto read = read_huggingface_config(config, mistral);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->tied);
  EXPECT_EQ(*mistral.require<uint32_t>("llama.attention.head_count_kv"), 8u);
  EXPECT_EQ(*mistral.require<float>("llama.attention.layer_norm_rms_epsilon"), 1e-6f);
  EXPECT_EQ(*mistral.require<uint32_t>("llama.attention.sliding_window"), 4096u);
  ModelFile open;
  config["sliding_window"] = nullptr;
  ASSERT_TRUE(read_huggingface_config(config, open));
  EXPECT_EQ(open.value("llama.attention.sliding_window"), nullptr);
  ModelFile qwen;
  ASSERT_TRUE(read_huggingface_config(config_with("model_type", "qwen3"), qwen));
  EXPECT_EQ(*qwen.require<uint32_t>("qwen3.attention.key_length"), 128u);
  EXPECT_EQ(qwen.value("qwen3.attention.sliding_window"), nullptr) << "use_sliding_window is false";
}

TEST(HuggingFaceConfig, WhatWouldComputeAnotherModelIsRefused) {
  EXPECT_EQ(refusal(config_with()), "no error");
  EXPECT_THAT(refusal(config_with("model_type")), HasSubstr("model_type is missing"));
  EXPECT_THAT(refusal(config_with("model_type", "mamba")),
              HasSubstr("\"mamba\" is not supported (supported: llama, "));
  EXPECT_THAT(refusal(config_with("hidden_act", "gelu")), HasSubstr("hidden_act: \"gelu\" is not supported"));
  EXPECT_THAT(refusal(config_with("quantization_config", parsed(R"({"quant_method": "fp8"})"))),
              HasSubstr("quantised checkpoints are not supported"));
  EXPECT_THAT(refusal(config_with("final_logit_softcapping", 30.0)),
              HasSubstr("final_logit_softcapping: 3E1 is not"));
  EXPECT_THAT(refusal(config_with("num_experts", 8)), HasSubstr("num_experts: 8 is not supported for llama"));
  EXPECT_THAT(refusal(config_with("rope_scaling", parsed(R"({"type": "dynamic", "factor": 2})"))),
              HasSubstr("rope_scaling: type dynamic is not supported"));
  EXPECT_THAT(refusal(config_with("rope_scaling", 3)), HasSubstr("rope_scaling is no object"));
  EXPECT_THAT(refusal(config_with("rope_scaling", parsed(R"({"rope_type": "llama3", "factor": 0})"))),
              HasSubstr("make no sense"));
  EXPECT_THAT(refusal(config_with("hidden_size", "64")), HasSubstr("hidden_size is \"64\", wanted a number"));
  EXPECT_EQ(refusal(config_with("final_logit_softcapping", parsed("null"))), "no error");
  EXPECT_EQ(refusal(config_with("partial_rotary_factor", 1.0)), "no error");
}

TEST(HuggingFaceConfig, YarnsFactorAndRampAreTakenAsTheyAre) {
  const auto yarn = [](const char* more) {
    ModelFile file;
    const auto read = read_huggingface_config(
        config_with("rope_scaling", parsed(fmt::format(R"({{"rope_type": "yarn", "factor": 4.0,
        "original_max_position_embeddings": 64{}}})",
                                                       more)
                                               .c_str())),
        file);
    EXPECT_TRUE(read) << read.error().message;
    EXPECT_EQ(file.value("llama.rope.scaling.attn_factor"), nullptr);
    return std::pair(file.find<double>("llama.rope.scaling.yarn_attn_factor").value(),
                     file.get_or<bool>("llama.rope.scaling.yarn_truncate", true).value());
  };
  EXPECT_EQ(yarn(""), std::pair(std::optional<double>(), true));
  EXPECT_EQ(yarn(R"(, "truncate": false)"), std::pair(std::optional<double>(), false));
  EXPECT_EQ(yarn(R"(, "attention_factor": 1.25, "mscale": 2, "mscale_all_dim": 1)").first, 1.25);
  EXPECT_EQ(yarn(R"(, "mscale": 1, "mscale_all_dim": 1)").first, 1.0);
  EXPECT_EQ(yarn(R"(, "mscale": 2, "mscale_all_dim": 1)").first, yarn_magnitude(4, 2) / yarn_magnitude(4, 1));
  EXPECT_THAT(refusal(config_with("rope_scaling", parsed(R"({"type": "yarn", "truncate": 1})"))),
              HasSubstr("truncate is 1, wanted true or false"));
}

TEST(HuggingFaceConfig, LayerTypesAreCheckedWithAndWithoutAWindow) {
  const auto with = [](const char* types, json::value window) {
    json::object config = config_with("layer_types", parsed(types));
    config["sliding_window"] = std::move(window);
    return refusal(config);
  };
  for (const json::value& window : {json::value(nullptr), json::value(64)}) {
    EXPECT_EQ(with(R"(["full_attention", "full_attention"])", window), "no error");
    EXPECT_THAT(with(R"(["full_attention", "linear_attention"])", window),
                HasSubstr("layer_types: \"linear_attention\" is not supported"));
    EXPECT_THAT(with(R"(["full_attention"])", window), HasSubstr("layer_types has 1 entries"));
    EXPECT_THAT(with("3", window), HasSubstr("layer_types is no list"));
  }
  EXPECT_EQ(with(R"(["full_attention", "sliding_attention"])", 64), "no error");
  EXPECT_THAT(with(R"(["full_attention", "sliding_attention"])", nullptr),
              HasSubstr("a layer slides a window, but there is none"));
  EXPECT_THAT(refusal(config_with("rope_parameters",
                                  parsed(R"({"full_attention": {"rope_type": "linear", "factor": 8},
                                             "sliding_attention": {"rope_type": "linear", "factor": 8}})"))),
              HasSubstr("type linear of sliding_attention is not supported"));
}

TEST(HuggingFaceConfig, FieldsThatNobodyKnowsAreNoted) {
  json::object config = config_with("torch_dtype", "bfloat16");
  ModelFile plain;
  ASSERT_TRUE(read_huggingface_config(config, plain));
  EXPECT_THAT(plain.notes(), ElementsAre());
  config["clip_qkv"] = 8;
  config["attention_chunk_size"] = nullptr;
  ModelFile file;
  ASSERT_TRUE(read_huggingface_config(config, file));
  EXPECT_THAT(file.notes(), ElementsAre("config.json: clip_qkv is not known and was ignored"));
}

TEST(HuggingFaceConfig, GenerationDefaultsAndEveryEos) {
  const auto stops = [](const char* generation, const char* config) {
    ModelFile file;
    const json::object g = parse_object(generation).value(), c = parse_object(config).value();
    EXPECT_TRUE(read_generation_config(&g, c, file));
    std::vector<std::string> notes;
    return read_stop_tokens(file, {}, 10, notes).value();
  };
  EXPECT_THAT(stops(R"({"eos_token_id": [7, 5]})", R"({"eos_token_id": 9})"), ElementsAre(5, 7));
  EXPECT_THAT(stops("{}", R"({"eos_token_id": 9})"), ElementsAre(9));
  EXPECT_THAT(stops("{}", R"({"text_config": {"eos_token_id": [4]}})"), ElementsAre(4));
  EXPECT_THAT(stops(R"({"eos_token_id": [-1, "x", 99999999999]})", "{}"), ElementsAre());

  ModelFile file;
  const json::object g =
      parse_object(R"({"temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.05,
                                          "min_p": 7})")
          .value();
  ASSERT_TRUE(read_generation_config(&g, {}, file));
  std::vector<std::string> notes;
  const auto sampling = read_sampling_defaults(file, notes);
  ASSERT_TRUE(sampling);
  EXPECT_EQ(describe(*sampling), "temperature 0.7, top_p 0.8, top_k 20, repetition_penalty 1.05");
  EXPECT_THAT(notes, ElementsAre("key general.sampling.min_p is 7, not within 0 to 1, and was ignored"));
  const json::object bad = parse_object(R"({"temperature": "hot"})").value();
  EXPECT_THAT(read_generation_config(&bad, {}, file).error().message, HasSubstr("temperature is \"hot\""));
}

TEST(HuggingFaceNames, AreGgufsByTheFamilysTable) {
  const HuggingFaceFamily& llama = *family_named("llama");
  const auto named = [&](const char* name) { return gguf_tensor_names(llama, name, 2).value(); };
  EXPECT_THAT(named("model.embed_tokens.weight"), ElementsAre(GgufName{"token_embd.weight"}));
  EXPECT_THAT(named("lm_head.weight"), ElementsAre(GgufName{"output.weight"}));
  EXPECT_THAT(named("model.layers.31.self_attn.q_proj.bias"), ElementsAre(GgufName{"blk.31.attn_q.bias"}));
  EXPECT_THAT(named("model.layers.0.self_attn.rotary_emb.inv_freq"), ElementsAre());
  for (const char* other : {"model.layers.x.self_attn.q_proj.weight", "model.layers..self_attn.q_proj.weight",
                            "model.layers.01.self_attn.q_proj.weight", "model.layers.1.self_attn.q_proj",
                            "model.layers.1.self_attn.q_proj.weight_scale", "vision_tower.x.weight", ""}) {
    const auto name = gguf_tensor_names(llama, other, 2);
    ASSERT_FALSE(name) << other;
    EXPECT_THAT(name.error().message, HasSubstr("is not part of llama models"));
  }
}

TEST(HuggingFaceNames, ExpertsAreStackedAndExtraLayersLeftOut) {
  const HuggingFaceFamily& glm = *family_named("glm4_moe");
  const auto named = [&](const char* name) { return gguf_tensor_names(glm, name, 5); };
  EXPECT_THAT(named("model.layers.3.mlp.experts.17.up_proj.weight").value(),
              ElementsAre(GgufName{"blk.3.ffn_up_exps.weight", 17}));
  EXPECT_THAT(named("model.layers.3.mlp.gate.weight").value(),
              ElementsAre(GgufName{"blk.3.ffn_gate_inp.weight"}));
  EXPECT_THAT(named("model.layers.3.mlp.gate.e_score_correction_bias").value(),
              ElementsAre(GgufName{"blk.3.exp_probs_b.bias"}));
  EXPECT_THAT(named("model.layers.3.post_attention_layernorm.weight").value(),
              ElementsAre(GgufName{"blk.3.post_attention_norm.weight"}));
  EXPECT_THAT(named("model.layers.5.eh_proj.weight").value(), ElementsAre());
  EXPECT_FALSE(named("model.layers.4.eh_proj.weight"));
  EXPECT_FALSE(named("model.layers.3.mlp.experts.17.up_proj.bias"));
  EXPECT_FALSE(gguf_tensor_names(*family_named("llama"), "model.layers.9.mlp.experts.0.up_proj.weight", 5));
}

TEST(HuggingFaceNames, OfAModelWithImagesTheTextModelsAreTaken) {
  EXPECT_EQ(name_in_text_model("language_model.model.layers.0.mlp.up_proj.weight"),
            "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(name_in_text_model("model.language_model.norm.weight"), "model.norm.weight");
  EXPECT_EQ(name_in_text_model("language_model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(name_in_text_model("lm_head.weight"), "lm_head.weight");
  for (const char* other : {"vision_tower.x", "model.multi_modal_projector.linear_1.weight"})
    EXPECT_EQ(name_in_text_model(other), std::nullopt) << other;
}

TEST(HuggingFaceConfig, OfAModelWithImagesTheTextModelsIsTaken) {
  const auto nested = [](const char* type, json::object text) {
    return json::object{{"model_type", type}, {"text_config", std::move(text)}};
  };
  const auto architecture = [](const json::object& config) {
    ModelFile file;
    const auto read = read_huggingface_config(config, file);
    EXPECT_TRUE(read && read->nested) << read.error().message;
    return std::string(file.require<std::string_view>("general.architecture").value());
  };
  json::object untyped = config_with();
  untyped.erase("model_type");
  EXPECT_EQ(architecture(nested("gemma3", untyped)), "gemma3");
  EXPECT_EQ(architecture(nested("mistral3", untyped)), "llama");
  EXPECT_EQ(architecture(nested("mistral3", config_with("model_type", "ministral3"))), "mistral3");
  EXPECT_THAT(refusal(parse_object(R"({"model_type": "gemma3"})").value()),
              HasSubstr("text_config is missing"));
  EXPECT_THAT(refusal(nested("gemma3", config_with("model_type", "mamba"))), HasSubstr("\"mamba\" is not"));
  json::object quantised = nested("mistral3", untyped);
  quantised["quantization_config"] = parsed(R"({"quant_method": "fp8"})");
  EXPECT_THAT(refusal(quantised), HasSubstr("quantised checkpoints are not supported"));
}

class FolderTest : public ::testing::Test {
 protected:
  FolderTest()
      : path_(std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_folder_{}", getpid())) {
    std::filesystem::create_directories(path_);
    put("config.json", json::serialize(config_with()));
    put_tensors("model.safetensors", {{"model.norm.weight", "F32", {2}, std::vector<std::byte>(8)}});
  }
  ~FolderTest() override { std::filesystem::remove_all(path_); }
  void put(const std::string& name, std::string_view text) {
    write_file((path_ / name).string(), std::as_bytes(std::span(text)));
  }
  void put_tensors(const std::string& name, const std::vector<testing::SafeTensorToWrite>& tensors) {
    write_file((path_ / name).string(), testing::safetensors(tensors));
  }
  std::string error() const {
    auto file = ModelFile::open(path_);
    return file ? "no error" : file.error().message;
  }
  std::filesystem::path path_;
};

TEST_F(FolderTest, BrokenAndMissingFilesAreNamed) {
  EXPECT_EQ(error(), "no error");
  put("config.json", "{");
  EXPECT_THAT(error(), HasSubstr("config.json: not valid JSON"));
  std::filesystem::remove(path_ / "config.json");
  EXPECT_THAT(error(), HasSubstr("no config.json in this folder"));
  put("config.json", json::serialize(config_with()));
  put("generation_config.json", "[]");
  EXPECT_THAT(error(), HasSubstr("generation_config.json: the JSON text is no object"));
  std::filesystem::remove(path_ / "generation_config.json");
  put("tokenizer.json", "nonsense");
  EXPECT_THAT(error(), HasSubstr("tokenizer.json: not valid JSON"));
  std::filesystem::remove(path_ / "tokenizer.json");
  put("model.safetensors", "nonsense");
  EXPECT_THAT(error(), HasSubstr("model.safetensors: the header claims"));
  std::filesystem::remove(path_ / "model.safetensors");
  EXPECT_THAT(error(), HasSubstr("the weight file model.safetensors is missing"));
}

TEST_F(FolderTest, TheIndexIsCheckedAgainstItsFiles) {
  put("model.safetensors.index.json", R"({"weight_map": {"model.norm.weight": "a.safetensors"}})");
  EXPECT_THAT(error(), HasSubstr("the weight file a.safetensors is missing"));
  put_tensors("a.safetensors", {{"model.embed_tokens.weight", "F32", {2, 1}, std::vector<std::byte>(8)}});
  EXPECT_THAT(error(), HasSubstr("a.safetensors: tensor model.norm.weight is missing"));
  for (const char* outside : {"../a.safetensors", "/etc/passwd", "", ".."}) {
    put("model.safetensors.index.json",
        fmt::format(R"({{"weight_map": {{"model.norm.weight": "{}"}}}})", outside));
    EXPECT_THAT(error(), HasSubstr("is no file name")) << outside;
  }
  put("model.safetensors.index.json",
      fmt::format(R"({{"weight_map": {{"model.norm.weight": "{}"}}}})", std::string(5000, 'a')));
  EXPECT_THAT(error(), HasSubstr("aaa... cannot be had: File name too long"));
  put("model.safetensors.index.json", R"({"weight_map": {"x": 1}})");
  EXPECT_THAT(error(), HasSubstr("x is in no file"));
  put("model.safetensors.index.json", "{}");
  EXPECT_THAT(error(), HasSubstr("weight_map is missing"));
}

TEST_F(FolderTest, TensorsAreCheckedAndNamed) {
  put_tensors("model.safetensors", {{"model.norm.weight", "I64", {1}, std::vector<std::byte>(8)}});
  EXPECT_THAT(error(),
              HasSubstr("tensor model.norm.weight has type I64 (supported in folders: F32, F16, BF16)"));
  put_tensors("model.safetensors", {{"model.norm.weight", "F32", {}, std::vector<std::byte>(4)}});
  EXPECT_THAT(error(), HasSubstr("has 0 dimensions"));
  put_tensors("model.safetensors", {{"model.norm.weight", "F32", {0}, {}}});
  EXPECT_THAT(error(), HasSubstr("has a dimension of 0"));
  put_tensors("model.safetensors", {{"model.other.weight", "F32", {2}, std::vector<std::byte>(8)}});
  EXPECT_THAT(error(), HasSubstr("model.safetensors: tensor model.other.weight is not part of llama models"));
  put("config.json", json::serialize(config_with("tie_word_embeddings", false)));
  put_tensors("model.safetensors", {{"model.embed_tokens.weight", "F32", {2, 1}, std::vector<std::byte>(8)}});
  EXPECT_THAT(error(), HasSubstr("tensor lm_head.weight is missing, and tie_word_embeddings is not true"));
}

TEST_F(FolderTest, ExpertsThatAreMissingOrDifferAreNamed) {
  put("config.json", json::serialize(config_with("model_type", "qwen3_moe")));
  const auto expert = [](int number, uint64_t rows) {
    return testing::SafeTensorToWrite{fmt::format("model.layers.0.mlp.experts.{}.up_proj.weight", number),
                                      "F32",
                                      {rows, 2},
                                      std::vector<std::byte>(rows * 8)};
  };
  put_tensors("model.safetensors", {expert(1, 3), expert(0, 3)});
  const auto file = ModelFile::open(path_);
  ASSERT_TRUE(file) << file.error().message;
  const GgufTensor* stack = file->tensor("blk.0.ffn_up_exps.weight");
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->parts.size(), 2u);
  EXPECT_EQ(stack->size[2], 2u);
  EXPECT_EQ(stack->byte_count(), 48u);
  EXPECT_GT(stack->parts[0].data(), stack->parts[1].data()) << "expert 0 lies behind expert 1";
  put_tensors("model.safetensors", {expert(0, 3), expert(2, 3)});
  EXPECT_THAT(error(), HasSubstr("expert 1 of blk.0.ffn_up_exps.weight is missing"));
  put_tensors("model.safetensors", {expert(0, 3), expert(1, 4)});
  EXPECT_THAT(error(), HasSubstr("experts 0 and 1 of blk.0.ffn_up_exps.weight differ"));
}

// gpt-oss: gate and up in alternate columns, matrices by [input][output].
TEST_F(FolderTest, ColumnsOfOneTensorBecomeSeveral) {
  put("config.json", json::serialize(config_with("model_type", "gpt_oss")));
  const auto counted = [](const char* name, std::vector<uint64_t> shape) {
    uint64_t count = 1;
    for (const uint64_t size : shape) count *= size;
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    const auto bytes = std::as_bytes(std::span(values));
    return testing::SafeTensorToWrite{name, "F32", std::move(shape), {bytes.begin(), bytes.end()}};
  };
  put_tensors("model.safetensors", {counted("model.layers.0.mlp.experts.gate_up_proj", {2, 3, 4}),
                                    counted("model.layers.0.mlp.experts.gate_up_proj_bias", {2, 4}),
                                    counted("model.layers.0.mlp.experts.down_proj", {2, 2, 3})});
  const auto file = ModelFile::open(path_);
  ASSERT_TRUE(file) << file.error().message;
  const auto values = [&](const char* name, std::vector<uint64_t> sizes) {
    const GgufTensor& tensor = *file->tensor(name);
    EXPECT_THAT(std::vector(tensor.size, tensor.size + tensor.dimensions),
                ::testing::ElementsAreArray(sizes));
    std::vector<std::byte> copy;
    const auto bytes = tensor.whole(copy);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    EXPECT_EQ(tensor.byte_count(), bytes.size());
    return floats;
  };
  EXPECT_THAT(values("blk.0.ffn_gate_exps.weight", {3, 2, 2}),
              ElementsAre(0, 4, 8, 2, 6, 10, 12, 16, 20, 14, 18, 22));
  EXPECT_THAT(values("blk.0.ffn_up_exps.weight", {3, 2, 2}),
              ElementsAre(1, 5, 9, 3, 7, 11, 13, 17, 21, 15, 19, 23));
  EXPECT_THAT(values("blk.0.ffn_gate_exps.bias", {2, 2}), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(values("blk.0.ffn_up_exps.bias", {2, 2}), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(values("blk.0.ffn_down_exps.weight", {2, 3, 2}),
              ElementsAre(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11));
  put_tensors("model.safetensors", {counted("model.layers.0.mlp.experts.gate_up_proj", {2, 3, 3})});
  EXPECT_THAT(error(), HasSubstr("does not have 2 parts"));
  put_tensors("model.safetensors", {counted("model.layers.0.mlp.experts.down_proj", {3})});
  EXPECT_THAT(error(), HasSubstr("of matrices"));
}

TEST_F(FolderTest, WhatIsForImagesIsLeftOutAndNoted) {
  json::object config = {{"model_type", "gemma3"}, {"text_config", config_with("model_type", "gemma3_text")}};
  put("config.json", json::serialize(config));
  put_tensors("model.safetensors",
              {{"language_model.model.embed_tokens.weight", "F32", {2, 1}, std::vector<std::byte>(8)},
               {"vision_tower.a", "I8", {1}, std::vector<std::byte>(1)},
               {"multi_modal_projector.b", "F32", {2}, std::vector<std::byte>(8)}});
  const auto file = ModelFile::open(path_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_NE(file->tensor("token_embd.weight"), nullptr);
  EXPECT_EQ(file->tensors().size(), 1u);
  EXPECT_THAT(file->notes(), ElementsAre("2 tensors for images are not used: this is the text model only"));
}

TEST_F(FolderTest, ATiedHeadIsTheEmbeddingWhateverIsSaved) {
  put_tensors("model.safetensors", {{"model.embed_tokens.weight", "F32", {2, 1}, std::vector<std::byte>(8)},
                                    {"lm_head.weight", "F32", {2, 1}, std::vector<std::byte>(8)}});
  const auto file = ModelFile::open(path_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensor("output.weight"), nullptr);
  EXPECT_NE(file->tensor("token_embd.weight"), nullptr);
}

}  // namespace
}  // namespace reprise
