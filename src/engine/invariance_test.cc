// What a request answers is a function of the request alone: not of the batch, the chunks, the slices by
// layers, the cache, preemption, or who is cancelled beside it. Checked bit for bit against the model run
// alone, token by token.
#include <filesystem>
#include <numeric>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/model_executor.h"
#include "engine/testing/hash_model.h"
#include "engine/testing/reader.h"
#include "model/load.h"
#include "model/testing/tiny_llama.h"

namespace reprise {
namespace {
using namespace reprise::testing;

struct Workload {
  uint32_t sessions = 6, turns = 4;
  uint32_t shared = 70, first = 30,
           step = 25;  // tokens: prefix of all, a session's first turn, each further turn
  uint32_t max_tokens = 24;
  TokenId vocabulary = 97;
};

// 24 requests: sessions whose prompts grow turn by turn on a prefix that all share. Greedy ones, and seeded
// ones with every parameter that looks at the history or the distribution.
std::vector<Generation> make_requests(const Workload& w) {
  std::mt19937 random(11);
  const auto append = [&](std::vector<TokenId>& tokens, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) tokens.push_back(static_cast<TokenId>(random() % w.vocabulary));
  };
  std::vector<TokenId> shared;
  append(shared, w.shared);
  std::vector<Generation> requests;
  for (uint32_t session = 0; session < w.sessions; ++session) {
    std::vector<TokenId> tokens = shared;
    append(tokens, w.first);
    for (uint32_t turn = 0; turn < w.turns; ++turn) {
      if (turn > 0) append(tokens, w.step + session);
      Generation g;
      g.prompt = tokens;
      g.max_tokens = w.max_tokens + 3 * turn;
      g.session = session + 1;
      switch ((session + turn) % 4) {
        case 0:
          g.sampling = {.temperature = 0.9f, .top_p = 0.9f, .seed = session * 100 + turn};
          break;
        case 1:
          g.sampling = {.top_k = 12,
                        .min_p = 0.02f,
                        .presence_penalty = 0.5f,
                        .repetition_penalty = 1.2f,
                        .seed = turn};
          g.min_tokens = 5;
          g.stop_tokens = {1, 2, 3, 4};
          break;
        default:
          g.sampling.temperature = 0;
      }
      requests.push_back(std::move(g));
    }
  }
  return requests;
}

struct Variant {
  const char* name;
  uint32_t chunk = 512;
  uint32_t pages = 2000;
  bool pace = true;
  uint32_t slice_layers = 0;
  bool expect_preemption = false;
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

// Sends all requests at once, every fourth one to be cancelled at some point, and again when the cache is
// warm.
void run_and_compare(std::unique_ptr<Model> model, TaskPool& pool, const std::vector<Generation>& requests,
                     const std::vector<std::vector<TokenId>>& expected, const Variant& variant) {
  EngineConfig config;
  config.prefill_chunk = variant.chunk;
  config.pace = variant.pace;
  config.slice_layers = variant.slice_layers;
  const Limits limits = derive_limits(config, *model, variant.pages);
  Engine engine(std::make_unique<ModelExecutor>(std::move(model), pool, variant.pages), limits, config, 1);
  std::mt19937 random(variant.chunk);
  for (int round = 0; round < 2; ++round) {
    std::vector<size_t> order(requests.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Stream> streams(requests.size()), doomed;
    for (size_t i : order) {
      streams[i] = engine.submit(requests[i]).value();
      if (i % 4 == 0) {
        Generation longer = requests[i];
        longer.max_tokens += 20;
        doomed.push_back(engine.submit(longer).value());
      }
    }
    for (const Stream& stream : doomed) {
      for (uint32_t reads = random() % 6; reads > 0; --reads) {
        ASSERT_FALSE(std::holds_alternative<Finished>(next_event(*stream.events))) << "ended too soon";
      }
      engine.cancel(stream.id);
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      const Outcome outcome = read_all(*streams[i].events);
      ASSERT_NE(outcome.finished.reason, FinishReason::kError) << outcome.finished.error.message;
      ASSERT_EQ(outcome.tokens, expected[i]) << variant.name << ", request " << i << ", round " << round;
    }
    ASSERT_TRUE(engine.wait_idle(60 * kSecond));
  }
  engine.stop();
  const Stats stats = engine.stats();
  EXPECT_EQ(stats.pages_free + stats.pages_cached, stats.pages_total);
  EXPECT_GT(stats.cache_hit_tokens, 0u);
  if (variant.expect_preemption) {
    EXPECT_GT(stats.preemptions, 0u);
  }
}

std::vector<std::vector<TokenId>> compute_all_alone(Model& model, const std::vector<Generation>& requests) {
  std::vector<std::vector<TokenId>> outputs;
  for (const Generation& g : requests) outputs.push_back(compute_alone(model, g));
  return outputs;
}

class HashInvariance : public ::testing::TestWithParam<Variant> {};

TEST_P(HashInvariance, AnswersAreThoseComputedAlone) {
  TaskPool pool(2, /*pin=*/false);
  const auto requests = make_requests({});
  HashModel alone({});
  run_and_compare(std::make_unique<HashModel>(HashModelOptions{}), pool, requests,
                  compute_all_alone(alone, requests), GetParam());
}

// The same with real arithmetic, by the kernels this machine's users get.
class LlamaInvariance : public ::testing::TestWithParam<Variant> {
 protected:
  static void SetUpTestSuite() {
    pool = new TaskPool(2, /*pin=*/false);
    path = std::filesystem::path(::testing::TempDir()) / "invariance.gguf";
    make_tiny_llama({.types = {kernels::WeightType::kQ4_1, kernels::WeightType::kQ8_0},
                     .layers = 3,
                     .hidden = 128,
                     .heads = 4,
                     .head_dim = 32,
                     .feed_forward = 128})
        .write(path);
    requests = make_requests({.max_tokens = 16, .vocabulary = 320});
    expected = compute_all_alone(*load(), requests);
  }
  static void TearDownTestSuite() {
    std::filesystem::remove(path);
    delete pool;
  }
  static std::unique_ptr<Model> load() {
    auto model = load_model(path, *pool, *kernels::select().value(), {.page_tokens = 16});
    CHECK(model.has_value(), "{}", model.error().message);
    return *std::move(model);
  }
  static inline TaskPool* pool = nullptr;
  static inline std::filesystem::path path;
  static inline std::vector<Generation> requests;
  static inline std::vector<std::vector<TokenId>> expected;
};

TEST_P(LlamaInvariance, AnswersAreThoseComputedAlone) {
  run_and_compare(load(), *pool, requests, expected, GetParam());
}

const auto kName = [](const auto& info) { return std::string(info.param.name); };

// 24 pages are 384 tokens: two or three sequences at a time, the rest preempted or waiting.
INSTANTIATE_TEST_SUITE_P(
    All, HashInvariance,
    ::testing::Values(Variant{"paced"}, Variant{"chunk1", 1, 2000, false}, Variant{"chunk7", 7, 2000, false},
                      Variant{"chunk64", 64, 2000, false}, Variant{"chunk512", 512, 2000, false},
                      Variant{"slices1", 512, 2000, false, 1}, Variant{"slices3", 64, 2000, false, 3},
                      Variant{"tiny", 512, 24, true, 0, true}, Variant{"tiny1", 1, 24, false, 0, true},
                      Variant{"tiny7", 7, 24, false, 0, true}, Variant{"tiny64", 64, 24, false, 0, true},
                      Variant{"tinyslices", 64, 24, false, 1, true}),
    kName);
INSTANTIATE_TEST_SUITE_P(
    All, LlamaInvariance,
    ::testing::Values(Variant{"paced"}, Variant{"chunk1", 1, 2000, false}, Variant{"chunk7", 7, 2000, false},
                      Variant{"chunk64", 64, 2000, false}, Variant{"chunk512", 512, 2000, false},
                      Variant{"tiny7", 7, 24, false, 0, true}, Variant{"tinyslices", 64, 24, false, 1, true}),
    kName);

}  // namespace
}  // namespace reprise
