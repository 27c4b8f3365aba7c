#include "model/load.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/architectures.h"
#include "model/gguf.h"
#include "model/inspect.h"
#include "model/testing/sequence.h"
#include "model/testing/tiny_llama.h"

namespace reprise {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_tiny_llama;
using testing::TinyLlama;

class LoadTest : public ::testing::Test {
 protected:
  LoadTest()
      : path_(std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_load_{}.gguf", getpid())) {}
  ~LoadTest() override { std::filesystem::remove(path_); }

  Result<std::unique_ptr<Model>> load(const testing::GgufWriter& writer, const LoadOptions& options = {},
                                      const kernels::Table& table = kernels::ref_table()) {
    writer.write(path_);
    return load_model(path_, pool_, table, options);
  }
  std::string refusal(const testing::GgufWriter& writer, const LoadOptions& options = {}) {
    auto model = load(writer, options);
    return model ? "loaded" : model.error().message;
  }

  std::filesystem::path path_;
  TaskPool pool_{2, /*pin=*/false};
};

TEST_F(LoadTest, TellsWhatTheTextSideNeeds) {
  auto model = load(make_tiny_llama({.name = "tiny test"}));
  ASSERT_TRUE(model) << model.error().message;
  const ModelInfo& info = (*model)->info();
  EXPECT_EQ(info.name, "tiny test");
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_EQ(info.context_length, 512u);
  EXPECT_EQ(info.trained_context, 512u);
  EXPECT_EQ(info.rope_scaling, "none");
  EXPECT_EQ(info.kv_type, "fp32") << "of the ref table";
  ASSERT_FALSE(info.weight_types.empty());
  EXPECT_GE(info.weight_types.front().second, info.weight_types.back().second);
  EXPECT_THAT(info.notes, ElementsAre());
  EXPECT_EQ(info.vocabulary.fim_middle, std::nullopt);
  EXPECT_EQ(info.vocabulary.tokens.size(), 320u);
  EXPECT_EQ(info.vocabulary.eos, 257);
  EXPECT_THAT(info.stop_tokens, ElementsAre(257));
  EXPECT_THAT(info.chat_template, HasSubstr("<|im_start|>"));
  EXPECT_EQ((*model)->layers(), 2u);
  EXPECT_EQ((*model)->vocabulary_size(), 320u);
  EXPECT_GT((*model)->weight_bytes(), 700'000u);
  const KvSpec spec = (*model)->kv_spec();
  ASSERT_EQ(spec.groups.size(), 1u);
  EXPECT_EQ(spec.page_tokens, 32u);
  EXPECT_EQ(spec.groups[0].page_bytes, 32u * 2 * 2 * 2 * 64 * sizeof(float)) << "ref keeps fp32";
}

TEST_F(LoadTest, WellKnownClosingTokensStopTheGeneration) {
  // The file names another token as eos: the control token <|im_end|> (257) counts all the same.
  auto model = load(make_tiny_llama({.eos = 300}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT((*model)->info().stop_tokens, ElementsAre(257, 300));
  // Without control tokens there is nothing to stop at.
  model = load(make_tiny_llama({.vocabulary = 256}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT((*model)->info().stop_tokens, ElementsAre());
}

TEST_F(LoadTest, TheFileMayNameTheTokensAroundAGap) {
  auto writer = make_tiny_llama();
  writer.put("tokenizer.ggml.fim_pre_token_id", 300u).put("tokenizer.ggml.fim_suf_token_id", 301u);
  writer.put("tokenizer.ggml.fim_mid_token_id", 302u);
  auto model = load(writer);
  ASSERT_TRUE(model) << model.error().message;
  const Vocabulary& vocabulary = (*model)->info().vocabulary;
  EXPECT_EQ(vocabulary.fim_prefix, 300);
  EXPECT_EQ(vocabulary.fim_suffix, 301);
  EXPECT_EQ(vocabulary.fim_middle, 302);
  model = load(make_tiny_llama().put("tokenizer.ggml.fim_mid_token_id", 320u));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->info().vocabulary.fim_middle, std::nullopt);
  EXPECT_THAT((*model)->info().notes, Contains(HasSubstr("fim_mid_token_id")));
}

TEST_F(LoadTest, ProgressEndsAtTheWholeFile) {
  make_tiny_llama({.types = {kernels::WeightType::kQ8_0, kernels::WeightType::kQ4_0}, .tied = false})
      .write(path_);
  std::vector<LoadProgress> seen;
  ASSERT_TRUE(
      load_model(path_, pool_, kernels::ref_table(), {}, [&](const LoadProgress& p) { seen.push_back(p); }));
  ASSERT_GT(seen.size(), 5u);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].bytes_done, seen[i - 1].bytes_done);
  EXPECT_EQ(seen.back().bytes_done, seen.back().bytes_total);
}

TEST_F(LoadTest, ContextNeedsScalingToExceedTheTrainedOne) {
  const auto writer = make_tiny_llama();
  EXPECT_THAT(
      refusal(writer, {.context = 1025}),
      HasSubstr("--context 1025 is above the 512 tokens that the model handles: add --rope-scaling yarn:3"));
  EXPECT_THAT(refusal(writer, {.context = 2000, .rope_scaling = "yarn:2"}),
              HasSubstr("above the 1024 tokens"));
  EXPECT_THAT(refusal(writer, {.rope_scaling = "yarn"}), HasSubstr("wanted none, linear:F or yarn:F"));

  auto shorter = load(writer, {.context = 100});
  ASSERT_TRUE(shorter);
  EXPECT_EQ((*shorter)->info().context_length, 100u);

  auto scaled = load(writer, {.rope_scaling = "yarn:4"});
  ASSERT_TRUE(scaled);
  EXPECT_EQ((*scaled)->info().context_length, 2048u);
  EXPECT_EQ((*scaled)->info().trained_context, 512u);
  EXPECT_EQ((*scaled)->info().rope_scaling, "yarn x4 over 512");
  ASSERT_EQ((*scaled)->info().notes.size(), 1u);
  EXPECT_THAT((*scaled)->info().notes[0], HasSubstr("usable up to 2048"));

  auto measured = load(writer, {.context = 100'000, .past_trained_context = true});
  ASSERT_TRUE(measured);
  EXPECT_EQ((*measured)->info().context_length, 100'000u);
  EXPECT_THAT((*measured)->info().notes[0], HasSubstr("for measuring only"));
}

TEST_F(LoadTest, AFilesOwnScalingExtendsWhatItIsUsableFor) {
  const auto context = [&](const TinyLlama& options) {
    auto model = load(make_tiny_llama(options));
    return model ? (*model)->info().context_length : 0;
  };
  for (const char* scaling : {"yarn", "linear"}) {
    EXPECT_EQ(context({.context = 64, .scaling = scaling, .factor = 4, .original_context = 64}), 256u)
        << "the file names what it extends";
    EXPECT_EQ(context({.context = 256, .scaling = scaling, .factor = 4, .original_context = 64}), 256u)
        << "the file names what it reaches";
    EXPECT_EQ(context({.context = 300, .scaling = scaling, .factor = 4, .original_context = 64}), 300u);
  }
  auto writer = make_tiny_llama({.context = 64});
  writer.put("llama.rope.scaling.type", "linear").put("llama.rope.scaling.factor", 4.0f);
  auto model = load(writer);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->info().context_length, 64u) << "it does not say what is extended";
  EXPECT_THAT(
      refusal(make_tiny_llama({.context = 64, .scaling = "yarn", .factor = 4, .original_context = 64}),
              {.context = 257}),
      HasSubstr("above the 256 tokens"));
}

TEST_F(LoadTest, FingerprintChangesWithWeightsAndWhateverChangesKv) {
  const auto print = [&](const TinyLlama& options, const LoadOptions& load_options = {}) {
    auto model = load(make_tiny_llama(options), load_options);
    EXPECT_TRUE(model);
    return (*model)->info().fingerprint;
  };
  const uint64_t base = print({});
  EXPECT_EQ(base, print({}));
  EXPECT_EQ(base, print({}, {.context = 64})) << "the same keys and values";
  EXPECT_NE(base, print({.seed = 2}));
  EXPECT_NE(base, print({}, {.rope_scaling = "linear:2"}));
  EXPECT_NE(base, print({}, {.rope_scaling = "yarn:2"}));
  EXPECT_NE(base, print({}, {.page_tokens = 64}));
}

TEST_F(LoadTest, WhatIsUnsupportedIsNamed) {
  const auto with = [](auto&& change) {
    auto writer = make_tiny_llama();
    change(writer);
    return writer;
  };
  const std::vector<std::byte> floats(256 * sizeof(float));
  EXPECT_THAT(refusal(testing::GgufWriter().put("general.architecture", "mamba")),
              HasSubstr("architecture \"mamba\" is not supported (supported: gemma3, llama, "));
  EXPECT_THAT(refusal(testing::GgufWriter()), HasSubstr("key general.architecture is missing"));
  EXPECT_THAT(refusal(with([](auto& w) { w.put("llama.expert_count", 8u); })),
              HasSubstr("key llama.expert_count: the integer 8 is not supported"));
  EXPECT_THAT(refusal(with([](auto& w) { w.put("llama.attention.causal", false); })),
              HasSubstr("llama.attention.causal"));
  EXPECT_THAT(refusal(with([&](auto& w) { w.tensor("blk.0.attn_q_norm.weight", 0, {256}, floats); })),
              HasSubstr("tensor blk.0.attn_q_norm.weight is not part of this architecture"));
  EXPECT_EQ(refusal(with([](auto& w) { w.put("llama.expert_count", 0u).put("llama.vocab_size", 320u); })),
            "loaded");
}

TEST_F(LoadTest, ArchitecturesAskForTheirOwnParts) {
  EXPECT_EQ(refusal(make_tiny_llama({.architecture = "qwen2", .qkv_biases = true})), "loaded");
  EXPECT_THAT(refusal(make_tiny_llama({.architecture = "qwen2"})),
              HasSubstr("tensor blk.0.attn_q.bias is missing"));
  EXPECT_THAT(refusal(make_tiny_llama({.architecture = "qwen3"})),
              HasSubstr("tensor blk.0.attn_q_norm.weight is missing"));
  EXPECT_THAT(refusal(make_tiny_llama({.architecture = "qwen2", .qkv_biases = true, .head_norms = true})),
              HasSubstr("tensor blk.0.attn_q_norm.weight is not part of this architecture"));
  // A window that this architecture does not read would change the results.
  auto writer = make_tiny_llama({.architecture = "qwen2", .qkv_biases = true});
  writer.put("qwen2.attention.sliding_window", 100u);
  EXPECT_THAT(refusal(writer),
              HasSubstr("key qwen2.attention.sliding_window: the integer 100 is not supported"));
}

// A part of which a file has lost some, or all, computes another model without a sign.
TEST_F(LoadTest, PartsAreInAllLayersAndMembersOrInNone) {
  const TinyLlama biased{.biases = true}, qwen2{.architecture = "qwen2", .qkv_biases = true},
      glm{.architecture = "glm4moe",
          .qkv_biases = true,
          .mlp_norm = "post_attention_norm",
          .experts = {.count = 4, .selection_bias = true}},
      gpt_oss{.architecture = "gpt-oss",
              .biases = true,
              .mlp_norm = "post_attention_norm",
              .sinks = true,
              .experts = {.count = 4, .biases = true}};
  const auto without = [&](const TinyLlama& options, std::vector<std::string> lost) {
    auto writer = make_tiny_llama(options);
    for (const std::string& name : lost) writer.drop(name);
    return refusal(writer);
  };
  for (const TinyLlama& whole : {biased, qwen2, glm, gpt_oss}) EXPECT_EQ(without(whole, {}), "loaded");
  for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
    for (int layer : {0, 1}) {
      const std::string name = fmt::format("blk.{}.{}.bias", layer, part);
      EXPECT_THAT(without(biased, {name}), HasSubstr(fmt::format("tensor {} is missing", name)));
    }
  EXPECT_EQ(without(biased, {"blk.0.attn_output.bias", "blk.1.attn_output.bias"}), "loaded")
      << "Qwen's kind of a llama file";
  const auto lost_in_both = [&](const TinyLlama& options, const char* part) {
    EXPECT_THAT(without(options, {fmt::format("blk.1.{}", part)}), HasSubstr(part));
    EXPECT_THAT(without(options, {fmt::format("blk.0.{}", part), fmt::format("blk.1.{}", part)}),
                AllOf(HasSubstr(part), HasSubstr("is missing")));
  };
  for (const char* part : {"attn_q.bias", "attn_k.bias", "attn_v.bias"}) lost_in_both(qwen2, part);
  lost_in_both(glm, "exp_probs_b.bias");
  for (const char* part : {"blk.1.attn_q.bias", "blk.1.attn_k.bias", "blk.1.attn_v.bias"})
    EXPECT_THAT(without(glm, {part}), HasSubstr(part));
  for (const char* part :
       {"attn_q.bias", "attn_k.bias", "attn_v.bias", "attn_output.bias", "attn_sinks.weight",
        "ffn_gate_inp.bias", "ffn_gate_exps.bias", "ffn_up_exps.bias", "ffn_down_exps.bias"})
    lost_in_both(gpt_oss, part);
}

TEST_F(LoadTest, WhatAConfigurationSaysOfBiasesHolds) {
  const auto told = [&](const TinyLlama& options, const char* key, bool value) {
    auto writer = make_tiny_llama(options);
    writer.put(options.architecture + key, value);
    return refusal(writer);
  };
  EXPECT_EQ(told({.biases = true}, ".attention.bias", true), "loaded");
  EXPECT_THAT(told({.biases = true}, ".attention.bias", false),
              HasSubstr("tensor blk.0.attn_q.bias is not part of this architecture"));
  EXPECT_THAT(told({.biases = true}, ".feed_forward.bias", false),
              HasSubstr("tensor blk.0.ffn_gate.bias is not part of this architecture"));
  EXPECT_THAT(told({}, ".attention.bias", true), HasSubstr("tensor blk.0.attn_q.bias is missing"));
  EXPECT_THAT(told({}, ".feed_forward.bias", true), HasSubstr("tensor blk.0.ffn_gate.bias is missing"));
  EXPECT_EQ(told({}, ".attention.bias", false), "loaded");
}

constexpr testing::TinyExperts kExperts{.count = 8, .used = 2};

TEST_F(LoadTest, ExpertsAreCheckedAgainstTheConfiguration) {
  const auto refused = [&](auto change, testing::TinyExperts experts = kExperts) {
    auto writer = make_tiny_llama({.architecture = "qwen3moe", .head_norms = true, .experts = experts});
    change(writer);
    return refusal(writer);
  };
  const auto nothing = [](auto&) {};
  EXPECT_EQ(refused(nothing), "loaded");
  EXPECT_THAT(refused(nothing, {}), HasSubstr("key qwen3moe.expert_count is missing"));
  EXPECT_THAT(refused(nothing, {.count = 2, .used = 3}),
              HasSubstr("key qwen3moe.expert_used_count is 3, wanted 1 to 2"));
  EXPECT_THAT(refused([](auto& w) { w.put("qwen3moe.expert_count", 2000u); }, {}),
              HasSubstr("expert_count is 2000, wanted 1 to 1024"));
  EXPECT_THAT(refused(nothing, {.count = 9, .groups = 2, .groups_used = 1}),
              HasSubstr("9 experts do not make such groups"));
  EXPECT_THAT(refused(nothing, {.count = 8, .used = 3, .groups = 4, .groups_used = 1}),
              HasSubstr("3 experts are not in so few groups"));
  EXPECT_THAT(refused(nothing, {.count = 8, .leading_dense = 3}), HasSubstr("above the 2 layers"));
  EXPECT_THAT(refused([](auto& w) { w.put("qwen3moe.expert_gating_func", 4u); }),
              HasSubstr("expert_gating_func: 4 is not supported (1: softmax"));
  EXPECT_THAT(refused([](auto& w) { w.put("qwen3moe.expert_shared_count", 1u); }),
              HasSubstr("tensor blk.0.ffn_gate_shexp.weight is missing"));
  // An architecture without experts does not skip them.
  auto dense = make_tiny_llama({.architecture = "qwen3", .head_norms = true, .experts = kExperts});
  EXPECT_THAT(refusal(dense), HasSubstr("key qwen3.expert_count: the integer 8 is not supported"));
}

TEST_F(LoadTest, ATokenCostsTheExpertsItUses) {
  const auto cost = [&](uint32_t count, uint32_t used) {
    auto model = load(make_tiny_llama({.architecture = "qwen3moe",
                                       .head_norms = true,
                                       .experts = {.count = count, .used = used, .inner = 96}}));
    return (*model)->token_cost();
  };
  const uint64_t attention = 2 * 256 * (2 * 256 + 2 * 128), expert = 2 * 3 * 256 * 96;
  EXPECT_EQ(cost(8, 2).layer_macs, attention + 2 * 256 * 8 + 2 * expert);
  EXPECT_EQ(cost(8, 2).float_macs, 2u * 256 * 8) << "the router";
  EXPECT_EQ(cost(8, 3).layer_bytes, cost(8, 2).layer_bytes);
  EXPECT_EQ(cost(16, 2).layer_bytes - cost(8, 2).layer_bytes,
            8 * expert / 32 * 34 + 2u * 256 * 8 * sizeof(float));
  EXPECT_EQ(cost(8, 3).weight_bytes - cost(8, 2).weight_bytes, expert / 32 * 34);
  EXPECT_EQ(cost(16, 2).weight_bytes - cost(8, 2).weight_bytes, 2u * 256 * 8 * sizeof(float)) << "the router";
}

TEST_F(LoadTest, ATokenReadsTheKeysOfItsWindows) {
  const auto cost = [&](const TinyLlama& options) {
    auto model = load(make_tiny_llama(options));
    const KvSpec spec = (*model)->kv_spec();
    const TokenCost cost = (*model)->token_cost();
    EXPECT_EQ(cost.kv_bytes + cost.window_kv_bytes, spec.groups[0].page_bytes / spec.page_tokens);
    return cost;
  };
  EXPECT_EQ(cost({}).window_kv_bytes, 0u);
  const TokenCost gemma =
      cost({.architecture = "gemma3", .layers = 7, .head_norms = true, .post_norms = true, .window = 40});
  EXPECT_EQ(gemma.window, 40u);
  EXPECT_EQ(gemma.window_kv_bytes, 6 * gemma.kv_bytes) << "one layer of seven sees all";
  EXPECT_EQ(gemma.window_macs, 6 * gemma.attention_macs);
}

TEST_F(LoadTest, BlocksThatPredictFurtherTokensAreNotRun) {
  const TinyLlama plain{.architecture = "glm4moe",
                        .qkv_biases = true,
                        .mlp_norm = "post_attention_norm",
                        .experts = {.count = 4, .selection_bias = true}};
  TinyLlama with = plain;
  with.prediction_blocks = 1;
  auto model = load(make_tiny_llama(with));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->layers(), 2u);
  EXPECT_THAT((*model)->info().notes, ElementsAre(HasSubstr("the last 1 blocks")));
  auto same = load(make_tiny_llama(plain));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(testing::all_logits(**model, {1, 2, 3}, 3, 2), testing::all_logits(**same, {1, 2, 3}, 3, 2));
  with.prediction_blocks = 0;
  auto writer = make_tiny_llama(with);
  writer.put("glm4moe.nextn_predict_layers", 2u);
  EXPECT_THAT(refusal(writer), HasSubstr("nextn_predict_layers is 2, wanted less than the 2 layers"));
}

TEST_F(LoadTest, HarmlessOddKeysAreNoted) {
  auto writer = make_tiny_llama();
  writer.put("llama.colour", "red");
  auto model = load(writer);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT((*model)->info().notes,
              ElementsAre(HasSubstr("key llama.colour is not known and was ignored")));
}

TEST_F(LoadTest, WindowsAreOfTheArchitecturesLayers) {
  const auto config = [&](const testing::GgufWriter& writer) {
    const auto bytes = writer.bytes();
    const auto file = parse_gguf(bytes);
    WeightLoader weights(*file, pool_, kernels::ref_table(), WeightLoader::Mode::kCheck);
    auto read = read_config(*file, weights);
    EXPECT_TRUE(read) << read.error().message;
    return read ? *read : DecoderConfig{};
  };
  const TinyLlama llama{.layers = 3}, gemma3{.architecture = "gemma3", .layers = 7};
  EXPECT_THAT(config(make_tiny_llama(llama)).windows, ElementsAre());
  const auto with = [](TinyLlama options, auto&& change) {
    auto writer = make_tiny_llama(options);
    change(writer.put(options.architecture + ".attention.sliding_window", 300u));
    return writer;
  };
  const auto as_it_is = [](auto&) {};
  EXPECT_THAT(config(with(llama, as_it_is)).windows, ElementsAre(300, 300, 300));
  EXPECT_EQ(config(with(llama, as_it_is)).trained_context, 512u);
  EXPECT_THAT(config(make_tiny_llama(gemma3)).windows, ElementsAre());
  EXPECT_THAT(config(with(gemma3, as_it_is)).windows, ElementsAre(300, 300, 300, 300, 300, 0, 300));
  constexpr const char* kPattern = "gemma3.attention.sliding_window_pattern";
  EXPECT_THAT(config(with(gemma3, [](auto& w) { w.put(kPattern, 2u); })).windows,
              ElementsAre(300, 0, 300, 0, 300, 0, 300));
  const std::vector<bool> flags = {true, false, false, true, false, true, true};
  EXPECT_THAT(config(with(gemma3, [&](auto& w) { w.put(kPattern, flags); })).windows,
              ElementsAre(300, 0, 0, 300, 0, 300, 300));
  EXPECT_THAT(
      refusal(with(gemma3, [](auto& w) { w.put(kPattern, std::vector<bool>(3)); })),
      HasSubstr("key gemma3.attention.sliding_window_pattern is 3 elements of bool, wanted 7 of bool"));
}

TEST_F(LoadTest, Gemma3ScalesScoresByItsSize) {
  const auto scale = [&](uint32_t layers, std::optional<float> given) {
    auto writer = make_tiny_llama({.architecture = "gemma3", .layers = layers, .hidden = 128, .heads = 4});
    if (given) writer.put("gemma3.attention.scale", *given);
    const auto bytes = writer.bytes();
    const auto file = parse_gguf(bytes);
    WeightLoader weights(*file, pool_, kernels::ref_table(), WeightLoader::Mode::kCheck);
    return read_config(*file, weights)->attention_scale;
  };
  EXPECT_FLOAT_EQ(scale(48, {}), 1 / std::sqrt(64.0f)) << "of a head";
  EXPECT_FLOAT_EQ(scale(62, {}), 1 / std::sqrt(128 / 4.0f)) << "of the hidden size, by heads";
  EXPECT_FLOAT_EQ(scale(62, 0.3f), 0.3f);
}

// A model written tensor by tensor, with one of them replaced or left out.
testing::GgufWriter altered(const std::string& name, uint32_t type, std::vector<uint64_t> sizes,
                            size_t bytes) {
  testing::GgufWriter w;
  w.put("general.architecture", "llama").put("llama.block_count", 1u).put("llama.embedding_length", 64u);
  w.put("llama.feed_forward_length", 64u)
      .put("llama.context_length", 64u)
      .put("llama.attention.head_count", 2u);
  w.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto add = [&](const std::string& tensor, std::vector<uint64_t> shape) {
    uint64_t elements = 1;
    for (uint64_t size : shape) elements *= size;
    if (tensor != name)
      w.tensor(tensor, 0, std::move(shape), std::vector<std::byte>(elements * 4));
    else if (!sizes.empty())
      w.tensor(tensor, type, sizes, std::vector<std::byte>(bytes));
  };
  add("token_embd.weight", {64, 8});
  add("output_norm.weight", {64});
  for (const char* matrix : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
    add(fmt::format("blk.0.{}.weight", matrix), {64, 64});
  add("blk.0.attn_norm.weight", {64});
  add("blk.0.ffn_norm.weight", {64});
  return w;
}

TEST_F(LoadTest, TensorsAreCheckedAgainstTheConfiguration) {
  EXPECT_EQ(refusal(altered("", 0, {}, 0)), "loaded") << "without a tokenizer too: token ids only";
  EXPECT_THAT(refusal(altered("blk.0.attn_k.weight", 0, {}, 0)),
              HasSubstr("tensor blk.0.attn_k.weight is missing"));
  EXPECT_THAT(refusal(altered("blk.0.attn_k.weight", 0, {64, 32}, 64 * 32 * 4)),
              HasSubstr("tensor blk.0.attn_k.weight is [64, 32, 1, 1], wanted [64, 64]"));
  EXPECT_THAT(refusal(altered("blk.0.ffn_down.weight", 9, {64, 64}, 64 * 2 * 36)),
              HasSubstr("tensor blk.0.ffn_down.weight has type Q8_1 (supported: F32, F16, BF16, Q8_0, "));
  EXPECT_THAT(refusal(altered("blk.0.ffn_norm.weight", 8, {64}, 2 * 34)),
              HasSubstr("is a vector of type Q8_0"));
  EXPECT_THAT(refusal(altered("token_embd.weight", 0, {}, 0)), HasSubstr("token_embd.weight is missing"));
  EXPECT_THAT(refusal(altered("output_norm.weight", 0, {}, 0)), HasSubstr("output_norm.weight is missing"));
}

TEST_F(LoadTest, FilesThatAreNoModelsAreRefused) {
  EXPECT_EQ(load_model("/nonexistent.gguf", pool_, kernels::ref_table()).error().kind, ErrorKind::kNotFound);
  std::ofstream(path_) << "hello";
  EXPECT_THAT(load_model(path_, pool_, kernels::ref_table()).error().message, HasSubstr("not a GGUF file"));
}

TEST_F(LoadTest, InspectReportsAndSaysWhyNot) {
  make_tiny_llama({.scaling = "yarn", .factor = 4, .original_context = 128}).write(path_);
  const VocabularyCheck any = [](const Vocabulary&) { return Result<void>(); };
  const std::string report = *inspect_model_file(path_, any);
  for (const char* part :
       {"architecture    llama", "2 layers, hidden 256, feed-forward 256, vocabulary 320",
        "4 query heads, 2 key-value heads of 64", "1.0 KiB (1024 bytes, bf16)", "544 bytes, --kv-type int8",
        "512 tokens", "scaling yarn x4 over 128", "Q8_0", "parameters      ",
        "gpt2, pre-tokenizer smollm, 320 tokens (64 control)", "eos 257 <|im_end|>",
        "stop tokens     257 <|im_end|>", "chat template", "servable        yes"})
    EXPECT_THAT(report, HasSubstr(part));
  make_tiny_llama(
      {.architecture = "gemma3", .layers = 7, .head_norms = true, .post_norms = true, .window = 70})
      .write(path_);
  EXPECT_THAT(*inspect_model_file(path_, any),
              AllOf(HasSubstr("6 of 7 layers see the last 70 positions only"),
                    HasSubstr("base 10000 in layers with a window"), HasSubstr("servable        yes")));
  make_tiny_llama({.scaling = "yarn", .factor = 4, .original_context = 128}).write(path_);
  const auto none = inspect_model_file(
      path_, [](const Vocabulary& v) -> Result<void> { return invalid("no tokenizer for \"{}\"", v.pre); });
  EXPECT_THAT(*none, HasSubstr("servable        no: no tokenizer for \"smollm\""));
  altered("blk.0.ffn_up.weight", 12, {256, 16}, 16 * 144).write(path_);
  EXPECT_THAT(*inspect_model_file(path_, any), HasSubstr("servable        no: tensor blk.0.ffn_up.weight"));
  testing::GgufWriter().put("general.architecture", "gpt\x1b[1m").write(path_);
  EXPECT_THAT(*inspect_model_file(path_, any), HasSubstr("architecture \"gpt\\x1b[1m\" is not supported"));
  testing::GgufWriter()
      .put("general.architecture", "rwkv9")
      .put("tokenizer.ggml.model", "gpt2")
      .put("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"})
      .write(path_);
  EXPECT_THAT(*inspect_model_file(path_, any),
              AllOf(HasSubstr("servable        no: architecture \"rwkv9\""), HasSubstr("2 tokens")));
}

}  // namespace
}  // namespace reprise
