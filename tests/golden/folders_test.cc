// Folders that transformers saved (tests/golden/folders, by tools/oracle/folders.py): the logits are
// transformers', and those of a GGUF file with the same weights: to the bit, but for llama and mistral3,
// whose GGUF files permute the rows of q and k, so that their products are summed in another order.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "golden.h"
#include "kernels/testing/tables.h"
#include "model/inspect.h"
#include "model/testing/gguf_copy.h"
#include "model/testing/sequence.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kBound = 1e-3f;

std::filesystem::path folder(const std::string& name) {
  return std::filesystem::path(REPRISE_ROOT) / "tests/golden/folders" / name;
}

TEST(Folders, LogitsAreThoseOfTransformers) {
  const Golden golden = read_golden("folders");
  size_t offset = 0;
  for (const std::string& name : golden.models) {
    const auto model = load(folder(name), kernels::ref_table());
    const size_t width = model->vocabulary_size();
    const auto all = all_logits(*model, golden.tokens, 64, model->layers());
    std::vector<float> ours;
    for (const uint32_t position : golden.positions)
      ours.insert(ours.end(), all.begin() + static_cast<ptrdiff_t>(position * width),
                  all.begin() + static_cast<ptrdiff_t>((position + 1) * width));
    const auto theirs = std::span(golden.logits).subspan(offset, ours.size());
    offset += ours.size();
    const float error = relative_error(ours, theirs);
    EXPECT_LE(error, kBound) << name;
    std::printf("%-16s max |difference| / max |logit| = %.2e\n", name.c_str(), error);
  }
  EXPECT_EQ(offset, golden.logits.size());
}

TEST(Folders, AGgufFileOfTheSameWeightsGivesTheSameLogits) {
  const Golden golden = read_golden("folders");
  const auto path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_folder_{}.gguf", getpid());
  for (const std::string& name : golden.models) {
    const auto source = ModelFile::open(folder(name));
    ASSERT_TRUE(source) << source.error().message;
    copy_to_gguf(*source).write(path);
    const auto architecture = source->require<std::string_view>("general.architecture").value();
    const bool permuted = architecture == "llama" || architecture == "mistral3";
    for (const kernels::Table* table : kernels::testing::all_tables()) {
      const auto ours = load(folder(name), *table), gguf = load(path, *table);
      const auto folders = all_logits(*ours, golden.tokens, 33, ours->layers());
      const auto files = all_logits(*gguf, golden.tokens, 33, gguf->layers());
      if (permuted) {
        EXPECT_LE(relative_error(folders, files), table == &kernels::ref_table() ? 1e-5f : kBound)
            << name << " " << table->name;
      } else {
        EXPECT_EQ(folders, files) << name << " " << table->name;
      }
      EXPECT_EQ(ours->info().stop_tokens, gguf->info().stop_tokens);
    }
  }
  std::filesystem::remove(path);
}

TEST(Folders, DefaultsAndStopTokensComeFromTheFolder) {
  const auto model = load(folder("llama_tied_bf16"), kernels::ref_table());
  const ModelInfo& info = model->info();
  EXPECT_FLOAT_EQ(info.sampling.temperature, 0.6f);
  EXPECT_FLOAT_EQ(info.sampling.top_p, 0.9f);
  EXPECT_EQ(info.sampling.top_k, 20);
  // 257 is <|im_end|> too.
  EXPECT_THAT(info.stop_tokens, ElementsAre(257, 300));
  EXPECT_EQ(info.vocabulary.bos, 256);
  EXPECT_EQ(info.vocabulary.eos, 257);
  EXPECT_THAT(info.vocabulary.tokenizer_json, HasSubstr("<|im_end|>"));
  EXPECT_THAT(info.chat_template, HasSubstr("<|im_start|>"));
  const auto report =
      inspect_model_file(folder("llama_tied_bf16"), [](const Vocabulary&) { return Result<void>(); });
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(*report, HasSubstr("safetensors"));
  EXPECT_THAT(*report, HasSubstr("temperature 0.6, top_p 0.9, top_k 20"));
  EXPECT_THAT(*report, HasSubstr("stop tokens     257, 300"));
  EXPECT_THAT(*report, HasSubstr("servable        yes"));
}

}  // namespace
}  // namespace reprise::testing
