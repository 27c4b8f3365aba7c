#include "api/metrics.h"

#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using ::testing::HasSubstr;

Stats example_stats() {
  Stats stats;
  stats.running = 3;
  stats.waiting = 2;
  stats.pages_total = 100;
  stats.pages_free = 50;
  stats.pages_cached = 25;
  stats.page_tokens = 32;
  stats.cache_query_tokens = 1000;
  stats.cache_hit_tokens = 900;
  stats.preemptions = 4;
  return stats;
}

TEST(Metrics, CarriesVllmsNamesWithTheirMeaning) {
  Metrics metrics("m");
  metrics.first_token(50 * kMillisecond);
  metrics.token_gap(20 * kMillisecond);
  metrics.tokens(12);
  metrics.finished({"stop", 2 * kSecond, kMillisecond, kSecond, kSecond, 100, 90, 12});
  metrics.finished({.finish_reason = "abort"});
  metrics.rejected(ErrorKind::kOverloaded);
  metrics.omitted({.images = 2, .audio = 1});
  const std::string text = metrics.text(example_stats());
  for (const char* line :
       {"vllm:num_requests_running{model_name=\"m\"} 3\n",
        "vllm:num_requests_waiting{model_name=\"m\"} 2\n",
        "reprise:omitted_parts_total{model_name=\"m\",type=\"image\"} 2\n",
        "reprise:omitted_parts_total{model_name=\"m\",type=\"audio\"} 1\n",
        "vllm:kv_cache_usage_perc{model_name=\"m\"} 0.25\n",
        "vllm:lora_requests_info{model_name=\"m\",max_lora=\"0\",running_lora_adapters=\"\",waiting_lora_"
        "adapters="
        "\"\"} 0\n",
        "vllm:cache_config_info{model_name=\"m\",block_size=\"32\",num_gpu_blocks=\"100\"} 1\n",
        "vllm:prefix_cache_queries_total{model_name=\"m\"} 1000\n",
        "vllm:prefix_cache_hits_total{model_name=\"m\"} 900\n",
        "vllm:num_preemptions_total{model_name=\"m\"} 4\n",
        "vllm:prompt_tokens_total{model_name=\"m\"} 100\n",
        "vllm:generation_tokens_total{model_name=\"m\"} 12\n",
        "vllm:request_success_total{model_name=\"m\",finished_reason=\"stop\"} 1\n",
        "vllm:request_success_total{model_name=\"m\",finished_reason=\"abort\"} 1\n",
        "vllm:request_success_total{model_name=\"m\",finished_reason=\"length\"} 0\n",
        "vllm:time_to_first_token_seconds_count{model_name=\"m\"} 1\n",
        "vllm:inter_token_latency_seconds_sum{model_name=\"m\"} 0.02\n",
        "vllm:e2e_request_latency_seconds_count{model_name=\"m\"} 1\n",
        "vllm:request_queue_time_seconds_count{model_name=\"m\"} 1\n",
        "vllm:request_prefill_time_seconds_count{model_name=\"m\"} 1\n",
        "vllm:request_decode_time_seconds_count{model_name=\"m\"} 1\n",
        "vllm:request_prompt_tokens_sum{model_name=\"m\"} 100\n",
        "vllm:request_generation_tokens_sum{model_name=\"m\"} 12\n",
        "reprise:request_cached_tokens_sum{model_name=\"m\"} 90\n",
        "reprise:kv_pages{model_name=\"m\",state=\"free\"} 50\n",
        "reprise:kv_pages{model_name=\"m\",state=\"cached\"} 25\n",
        "reprise:kv_pages{model_name=\"m\",state=\"total\"} 100\n",
        "reprise:requests_rejected_total{model_name=\"m\",reason=\"overloaded\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Metrics, ARequestThatGeneratesNothingHasNoDecodeTime) {
  Metrics metrics("m");
  metrics.finished({.finish_reason = "length", .total = kSecond, .prefill = kSecond, .prompt_tokens = 100});
  const std::string text = metrics.text(example_stats());
  EXPECT_THAT(text, HasSubstr("vllm:request_decode_time_seconds_count{model_name=\"m\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("vllm:request_prefill_time_seconds_count{model_name=\"m\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("vllm:e2e_request_latency_seconds_count{model_name=\"m\"} 1\n"));
}

TEST(Metrics, DeclaresEveryNameOnce) {
  Metrics metrics("quoted \"name\"\\");
  std::istringstream text(metrics.text(example_stats()));
  std::map<std::string, int> helps, types;
  size_t samples = 0;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string hash, what, name;
    words >> hash >> what >> name;
    if (hash != "#") {
      ++samples;
      EXPECT_THAT(line, HasSubstr(R"(model_name="quoted \"name\"\\")"));
      continue;
    }
    ++(what == "HELP" ? helps : types)[name];
  }
  EXPECT_GT(samples, 100u);
  EXPECT_EQ(helps, types);
  for (const auto& [name, count] : helps) EXPECT_EQ(count, 1) << name;
}

TEST(Metrics, MayBeRecordedFromManyThreads) {
  Metrics metrics("m");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        metrics.token_gap(kMillisecond);
        metrics.tokens(1);
        if (k % 100 == 0) metrics.text(example_stats());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = metrics.text({});
  EXPECT_THAT(text, HasSubstr("vllm:generation_tokens_total{model_name=\"m\"} 4000\n"));
  EXPECT_THAT(text, HasSubstr("vllm:inter_token_latency_seconds_count{model_name=\"m\"} 4000\n"));
}

}  // namespace
}  // namespace reprise
