#include "model/vocabulary.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "model/testing/gguf_writer.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::GgufWriter;

// A vocabulary as a file of the model has it: `control` tokens at their ids, all others plain.
struct Published {
  const char* architecture;
  uint32_t size;
  std::map<uint32_t, const char*> control;
  uint32_t eos;
  std::vector<TokenId> stops;
};
const Published kPublished[] = {
    {"gpt-oss",
     201088,
     {{199998, "<|startoftext|>"},
      {199999, "<|endoftext|>"},
      {200002, "<|return|>"},
      {200005, "<|channel|>"},
      {200006, "<|start|>"},
      {200007, "<|end|>"},
      {200008, "<|message|>"},
      {200012, "<|call|>"}},
     200002,
     {199999, 200002, 200012}},
    {"glm4moe",
     151552,
     {{151329, "<|endoftext|>"},
      {151331, "[gMASK]"},
      {151333, "<sop>"},
      {151335, "<|system|>"},
      {151336, "<|user|>"},
      {151337, "<|assistant|>"},
      {151338, "<|observation|>"}},
     151329,
     {151329, 151336, 151338}},
    {"qwen3moe",
     151936,
     {{151643, "<|endoftext|>"}, {151644, "<|im_start|>"}, {151645, "<|im_end|>"}},
     151645,
     {151643, 151645}},
    {"llama",
     128256,
     {{128000, "<|begin_of_text|>"},
      {128001, "<|end_of_text|>"},
      {128006, "<|start_header_id|>"},
      {128007, "<|end_header_id|>"},
      {128008, "<|eom_id|>"},
      {128009, "<|eot_id|>"}},
     128009,
     {128001, 128008, 128009}},
    {"mistral3",
     131072,
     {{0, "<unk>"}, {1, "<s>"}, {2, "</s>"}, {3, "[INST]"}, {4, "[/INST]"}, {9, "[TOOL_CALLS]"}},
     2,
     {2}},
};

ModelFile parsed(const std::vector<std::byte>& bytes) {
  auto file = parse_gguf(bytes);
  CHECK(file.has_value(), "{}", file.error().message);
  return std::move(*file);
}

GgufWriter written(const Published& p) {
  std::vector<std::string> tokens(p.size, "x");
  std::vector<int32_t> types(p.size, 1);
  for (const auto& [id, text] : p.control) tokens[id] = text, types[id] = 3;
  GgufWriter w;
  w.put("general.architecture", p.architecture).put("tokenizer.ggml.model", "gpt2");
  w.put("tokenizer.ggml.tokens", tokens).put("tokenizer.ggml.token_type", types);
  w.put("tokenizer.ggml.eos_token_id", p.eos);
  return w;
}

std::vector<TokenId> stops_of(const GgufWriter& writer, uint32_t size) {
  const auto bytes = writer.bytes();
  const ModelFile file = parsed(bytes);
  std::vector<std::string> notes;
  const Vocabulary vocabulary = read_vocabulary(file, size, notes).value();
  return read_stop_tokens(file, vocabulary, size, notes).value();
}

TEST(Vocabulary, GenerationsEndWherePublishedModelsEndTheirTurns) {
  for (const Published& p : kPublished)
    EXPECT_THAT(stops_of(written(p), p.size), ElementsAreArray(p.stops)) << p.architecture;
}

TEST(Vocabulary, AMessagesEndIsNoTurnsEndWhateverKeyNamesIt) {
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    GgufWriter writer = written(kPublished[0]);
    writer.put(key, 200007u);
    EXPECT_THAT(stops_of(writer, kPublished[0].size), ElementsAreArray(kPublished[0].stops)) << key;
  }
  EXPECT_FALSE(ends_generation("<|end|>", "gpt-oss"));
  EXPECT_TRUE(ends_generation("<|end|>", "phi3"));
}

// An id without a row would be refused with each request that asks to end there.
TEST(Vocabulary, IdsThatTheModelHasNoRowForAreLeftOutAndNoted) {
  GgufWriter w;
  w.put("general.architecture", "llama").put("tokenizer.huggingface.json", "{}");
  for (const char* name : {"bos", "eos", "padding", "eom"})
    w.put(fmt::format("tokenizer.ggml.{}_token_id", name), 10u);
  w.put("tokenizer.ggml.eos_token_ids", std::vector<int32_t>{3, 10, 1 << 30});
  w.put("tokenizer.huggingface.closing_token_ids", std::vector<int32_t>{11, 9, -1});
  const auto bytes = w.bytes();
  const ModelFile file = parsed(bytes);
  std::vector<std::string> notes;
  const auto vocabulary = read_vocabulary(file, 10, notes);
  ASSERT_TRUE(vocabulary) << vocabulary.error().message;
  EXPECT_FALSE(vocabulary->bos || vocabulary->eos || vocabulary->pad);
  EXPECT_THAT(read_stop_tokens(file, *vocabulary, 10, notes).value(), ElementsAre(3, 9));
  ASSERT_EQ(notes.size(), 8u);
  EXPECT_EQ(notes[0], "key tokenizer.ggml.bos_token_id is 10, but there are 10 tokens: ignored");
  EXPECT_EQ(notes[4], "token 10 would end an answer, but there are 10 tokens: ignored");
}

}  // namespace
}  // namespace reprise
