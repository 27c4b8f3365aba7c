// What a request answers is a function of the request alone: not of the batch, the chunks, the slices by
// layers, the cache, preemption, or who is cancelled beside it. Checked bit for bit against the model run
// alone, token by token.
#include <algorithm>
#include <filesystem>
#include <map>
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

// 24 requests: sessions whose prompts grow turn by turn on a prefix that all share. Greedy ones, seeded ones
// with every parameter that looks at the history or the distribution, and some whose prompts are scored.
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
      if ((session + 2 * turn) % 5 == 0) g.prompt_logprobs = static_cast<int32_t>(turn);
      if (g.prompt_logprobs == 2) g.max_tokens = g.min_tokens = 0;  // the prompt's scores alone
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
                     const std::vector<Alone>& expected, const Variant& variant) {
  EngineConfig config;
  config.prefill_chunk = variant.chunk;
  config.pace = variant.pace;
  config.slice_layers = variant.slice_layers;
  const Limits limits = derive_limits(config, *model, variant.pages);
  Engine engine(std::make_unique<ModelExecutor>(std::move(model), pool, variant.pages), limits, config, 1);
  std::mt19937 random(variant.chunk);
  // Whether the requests meet in the pool depends on how fast this thread submits them: on a busy machine it
  // takes more rounds until one is preempted.
  const auto preempted = [&] { return !variant.expect_preemption || engine.stats().preemptions > 0; };
  for (int round = 0; round < 2 || (round < 50 && !preempted()); ++round) {
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
      ASSERT_EQ(outcome.tokens, expected[i].tokens)
          << variant.name << ", request " << i << ", round " << round;
      ASSERT_EQ(outcome.scores, expected[i].scores)
          << variant.name << ", request " << i << ", round " << round;
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

std::vector<Alone> each_alone(Model& model, const std::vector<Generation>& requests) {
  std::vector<Alone> outputs;
  for (const Generation& g : requests) outputs.push_back(compute_all_alone(model, g));
  return outputs;
}

class HashInvariance : public ::testing::TestWithParam<Variant> {};

TEST_P(HashInvariance, AnswersAreThoseComputedAlone) {
  TaskPool pool(2, /*pin=*/false);
  const auto requests = make_requests({});
  HashModel alone({});
  run_and_compare(std::make_unique<HashModel>(HashModelOptions{}), pool, requests,
                  each_alone(alone, requests), GetParam());
}

// The same with real arithmetic, by the kernels this machine's users get: llama, and windows beside full
// attention, in every way; the other architectures in pools that are too small for all.
const TinyLlama kModels[] = {
    {.name = "llama",
     .types = {kernels::WeightType::kQ4_1, kernels::WeightType::kQ8_0},
     .layers = 3,
     .hidden = 128,
     .heads = 4,
     .head_dim = 32,
     .feed_forward = 128},
    {.name = "gemma3",
     .architecture = "gemma3",
     .layers = 6,
     .hidden = 64,
     .heads = 2,
     .kv_heads = 1,
     .head_dim = 32,
     .feed_forward = 64,
     .head_norms = true,
     .post_norms = true,
     .window = 45},
};

// One model of each other architecture, with all of its parts.
std::vector<TinyLlama> other_models() {
  std::vector<TinyLlama> models;
  for (TinyLlama& options : oracle_models()) {
    const auto same = [&](const TinyLlama& m) { return m.architecture == options.architecture; };
    if (std::ranges::any_of(kModels, same) || std::ranges::any_of(models, same)) continue;
    options.name = options.architecture;
    std::ranges::replace(options.name, '-', '_');
    models.push_back(std::move(options));
  }
  return models;
}

class ModelInvariance : public ::testing::TestWithParam<std::tuple<TinyLlama, Variant>> {
 protected:
  // A model's file, and what is expected of it.
  struct Subject {
    explicit Subject(const TinyLlama& options)
        : path(std::filesystem::path(::testing::TempDir()) / ("invariance_" + options.name + ".gguf")) {
      make_tiny_llama(options).write(path);
      expected = each_alone(*load(), requests());
    }
    ~Subject() { std::filesystem::remove(path); }
    std::unique_ptr<Model> load() const {
      auto model = load_model(path, *pool, *kernels::select().value(), {.page_tokens = 16});
      CHECK(model.has_value(), "{}", model.error().message);
      return *std::move(model);
    }
    std::filesystem::path path;
    std::vector<Alone> expected;
  };
  static void SetUpTestSuite() { pool = new TaskPool(2, /*pin=*/false); }
  static void TearDownTestSuite() {
    subjects.clear();
    delete pool;
  }
  static std::vector<Generation> requests() { return make_requests({.max_tokens = 16, .vocabulary = 320}); }
  static const Subject& subject(const TinyLlama& options) {
    return subjects.try_emplace(options.name, options).first->second;
  }
  static inline TaskPool* pool = nullptr;
  static inline std::map<std::string, Subject> subjects;
};

TEST_P(ModelInvariance, AnswersAreThoseComputedAlone) {
  const auto& [options, variant] = GetParam();
  const Subject& s = subject(options);
  run_and_compare(s.load(), *pool, requests(), s.expected, variant);
}

const auto kModelName = [](const auto& info) {
  return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
};
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
INSTANTIATE_TEST_SUITE_P(All, ModelInvariance,
                         ::testing::Combine(::testing::ValuesIn(kModels),
                                            ::testing::Values(Variant{"paced"},
                                                              Variant{"chunk1", 1, 2000, false},
                                                              Variant{"chunk7", 7, 2000, false},
                                                              Variant{"chunk64", 64, 2000, false},
                                                              Variant{"chunk512", 512, 2000, false},
                                                              Variant{"tiny7", 7, 24, false, 0, true},
                                                              Variant{"tinyslices", 64, 24, false, 1, true})),
                         kModelName);
INSTANTIATE_TEST_SUITE_P(Architectures, ModelInvariance,
                         ::testing::Combine(::testing::ValuesIn(other_models()),
                                            ::testing::Values(Variant{"chunk64", 64, 2000, false},
                                                              Variant{"tiny7", 7, 24, false, 0, true})),
                         kModelName);

}  // namespace
}  // namespace reprise
