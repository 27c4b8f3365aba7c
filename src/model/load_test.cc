#include "model/load.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/inspect.h"
#include "model/testing/sequence.h"
#include "model/testing/tiny_llama.h"

namespace reprise {
namespace {

using ::testing::AllOf;
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
  EXPECT_THAT(info.notes, ElementsAre());
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
              HasSubstr("architecture \"mamba\" is not supported (supported: llama)"));
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

TEST_F(LoadTest, HarmlessOddKeysAreNoted) {
  auto writer = make_tiny_llama();
  writer.put("llama.colour", "red").put("llama.attention.sliding_window", 300u);
  auto model = load(writer);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->info().context_length, 300u)
      << "full attention equals windowed attention up to the window";
  EXPECT_THAT((*model)->info().notes,
              ElementsAre(HasSubstr("attention window of 300 tokens"),
                          HasSubstr("key llama.colour is not known and was ignored")));
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
  EXPECT_THAT(
      refusal(altered("blk.0.ffn_down.weight", 6, {64, 64}, 64 * 2 * 22)),
      HasSubstr(
          "tensor blk.0.ffn_down.weight has type Q5_0 (supported: F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q6_K)"));
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
  for (const char* part : {"architecture    llama", "2 layers, hidden 256, feed-forward 256, vocabulary 320",
                           "4 query heads, 2 key-value heads of 64", "1.0 KiB (1024 bytes, bf16)",
                           "512 tokens", "scaling yarn x4 over 128", "Q8_0", "parameters      ",
                           "gpt2, pre-tokenizer smollm, 320 tokens (64 control)", "eos 257 <|im_end|>",
                           "stop tokens     257 <|im_end|>", "chat template", "servable        yes"})
    EXPECT_THAT(report, HasSubstr(part));
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
