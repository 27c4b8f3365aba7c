// Requests are counted as they happen, in prometheus-cpp's own counters and histograms; the engine's Stats
// become metric families when somebody asks. Each name is declared in exactly one of the two places.
#include "api/metrics.h"

#include <algorithm>
#include <iterator>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace reprise {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

// vLLM's bucket borders: dashboards compute quantiles across servers only when these agree.
const Buckets kFirstToken = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                             1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
const Buckets kTokenGap = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
                           0.75, 1,     2.5,  5,     7.5, 10,   20,  40,  80};
const Buckets kLatency = {0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                          30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680};
const Buckets kTokens = {1,    2,    5,    10,    20,    50,    100,    200,    500,
                         1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000};

constexpr std::string_view kReasons[] = {"stop", "length", "abort", "error"};

struct KindName {
  ErrorKind kind;
  const char* name;
};
constexpr KindName kKinds[] = {
    {ErrorKind::kInvalid, "invalid"},         {ErrorKind::kNotFound, "not_found"},
    {ErrorKind::kUnsupported, "unsupported"}, {ErrorKind::kTooLarge, "too_large"},
    {ErrorKind::kOverloaded, "overloaded"},   {ErrorKind::kUnavailable, "unavailable"},
    {ErrorKind::kCancelled, "cancelled"},     {ErrorKind::kInternal, "internal"},
};

}  // namespace

struct PartType {
  const char* name;
  uint32_t OmittedParts::*count;
};
constexpr PartType kParts[] = {{"image", &OmittedParts::images},
                               {"audio", &OmittedParts::audio},
                               {"video", &OmittedParts::video},
                               {"file", &OmittedParts::files},
                               {"other", &OmittedParts::others}};

struct Metrics::Registered {
  explicit Registered(const std::string& model)
      : label{{"model_name", model}},
        first_token(histogram("vllm:time_to_first_token_seconds", "Arrival of a request to its first token.",
                              kFirstToken)),
        token_gap(histogram("vllm:inter_token_latency_seconds", "Time between the tokens of one choice.",
                            kTokenGap)),
        total(histogram("vllm:e2e_request_latency_seconds", "Arrival of a request to its end.", kLatency)),
        queued(histogram("vllm:request_queue_time_seconds", "Accepted to first scheduled.", kLatency)),
        prefill(histogram("vllm:request_prefill_time_seconds", "First scheduled to first token.", kLatency)),
        decode(histogram("vllm:request_decode_time_seconds", "First token to the end.", kLatency)),
        prompt_size(histogram("vllm:request_prompt_tokens", "Prompt tokens of a request.", kTokens)),
        output_size(histogram("vllm:request_generation_tokens", "Generated tokens of a request.", kTokens)),
        cached_size(histogram("reprise:request_cached_tokens",
                              "Prompt tokens of a request found in the cache.", kTokens)),
        prompt_tokens(
            counter("vllm:prompt_tokens_total", "Prompt tokens of finished requests, cached ones included.")),
        generated_tokens(counter("vllm:generation_tokens_total", "Tokens generated.")) {
    auto& by_reason = BuildCounter()
                          .Name("vllm:request_success_total")
                          .Help("Accepted requests by how they ended.")
                          .Labels(label)
                          .Register(registry);
    for (size_t i = 0; i < std::size(kReasons); ++i) {
      finished[i] = &by_reason.Add({{"finished_reason", std::string(kReasons[i])}});
    }
    auto& by_kind = BuildCounter()
                        .Name("reprise:requests_rejected_total")
                        .Help("Requests refused before they ran.")
                        .Labels(label)
                        .Register(registry);
    for (size_t i = 0; i < std::size(kKinds); ++i) rejected[i] = &by_kind.Add({{"reason", kKinds[i].name}});
    auto& by_type = BuildCounter()
                        .Name("reprise:omitted_parts_total")
                        .Help("Content parts that were no text: the model saw a placeholder.")
                        .Labels(label)
                        .Register(registry);
    for (size_t i = 0; i < std::size(kParts); ++i) omitted[i] = &by_type.Add({{"type", kParts[i].name}});
  }

  Histogram& histogram(const char* name, const char* help, const Buckets& buckets) {
    return BuildHistogram().Name(name).Help(help).Labels(label).Register(registry).Add({}, buckets);
  }
  Counter& counter(const char* name, const char* help) {
    return BuildCounter().Name(name).Help(help).Labels(label).Register(registry).Add({});
  }

  prometheus::Registry registry;
  prometheus::Labels label;
  Histogram &first_token, &token_gap, &total, &queued, &prefill, &decode, &prompt_size, &output_size,
      &cached_size;
  Counter &prompt_tokens, &generated_tokens;
  Counter* finished[std::size(kReasons)] = {};
  Counter* rejected[std::size(kKinds)] = {};
  Counter* omitted[std::size(kParts)] = {};
};

Metrics::Metrics(const std::string& model_name)
    : registered_(std::make_unique<Registered>(model_name)), model_name_(model_name) {}
Metrics::~Metrics() = default;

void Metrics::first_token(Nanos since_arrival) {
  registered_->first_token.Observe(to_seconds(since_arrival));
}
void Metrics::token_gap(Nanos since_last_token) {
  registered_->token_gap.Observe(to_seconds(since_last_token));
}
void Metrics::tokens(uint64_t generated) {
  registered_->generated_tokens.Increment(static_cast<double>(generated));
}

void Metrics::finished(const RequestOutcome& outcome) {
  Registered& r = *registered_;
  for (size_t i = 0; i < std::size(kReasons); ++i) {
    if (kReasons[i] == outcome.finish_reason) r.finished[i]->Increment();
  }
  if (outcome.finish_reason != "stop" && outcome.finish_reason != "length")
    return;  // half a request has no latency
  r.total.Observe(to_seconds(outcome.total));
  r.queued.Observe(to_seconds(outcome.queued));
  r.prefill.Observe(to_seconds(outcome.prefill));
  if (outcome.output_tokens > 0)
    r.decode.Observe(to_seconds(outcome.decode));  // one that scores decodes nothing
  r.prompt_size.Observe(static_cast<double>(outcome.prompt_tokens));
  r.output_size.Observe(static_cast<double>(outcome.output_tokens));
  r.cached_size.Observe(static_cast<double>(outcome.cached_tokens));
  r.prompt_tokens.Increment(static_cast<double>(outcome.prompt_tokens));
}

void Metrics::rejected(ErrorKind kind) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].kind == kind) registered_->rejected[i]->Increment();
  }
}

void Metrics::omitted(const OmittedParts& parts) {
  for (size_t i = 0; i < std::size(kParts); ++i) registered_->omitted[i]->Increment(parts.*kParts[i].count);
}

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

class StatsFamilies {
 public:
  explicit StatsFamilies(std::string model_name) : model_name_(std::move(model_name)) {}

  void gauge(std::string name, std::string help, double value, std::vector<ClientMetric::Label> labels = {}) {
    add(MetricType::Gauge, std::move(name), std::move(help), std::move(labels)).gauge.value = value;
  }
  void counter(std::string name, std::string help, uint64_t value) {
    add(MetricType::Counter, std::move(name), std::move(help), {}).counter.value = static_cast<double>(value);
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  // Several label values of one name follow each other and share its declaration.
  ClientMetric& add(MetricType type, std::string name, std::string help,
                    std::vector<ClientMetric::Label> labels) {
    if (families_.empty() || families_.back().name != name) {
      families_.push_back({std::move(name), std::move(help), type, {}});
    }
    ClientMetric metric;
    metric.label = {{"model_name", model_name_}};
    std::move(labels.begin(), labels.end(), std::back_inserter(metric.label));
    families_.back().metric.push_back(std::move(metric));
    return families_.back().metric.back();
  }

  std::string model_name_;
  std::vector<MetricFamily> families_;
};

std::vector<MetricFamily> stats_families(const Stats& stats, const std::string& model_name) {
  StatsFamilies families(model_name);
  uint32_t in_use = stats.pages_total - std::min(stats.pages_total, stats.pages_free + stats.pages_cached);
  double usage = stats.pages_total == 0 ? 0 : static_cast<double>(in_use) / stats.pages_total;
  families.gauge("vllm:num_requests_running", "Requests that hold KV memory.", stats.running);
  families.gauge("vllm:num_requests_waiting", "Accepted requests that wait for it.", stats.waiting);
  families.gauge("vllm:kv_cache_usage_perc", "Share of KV memory held by running requests, 0 to 1.", usage);
  families.gauge("vllm:lora_requests_info", "Adapters in use: there are none.", 0,
                 {{"max_lora", "0"}, {"running_lora_adapters", ""}, {"waiting_lora_adapters", ""}});
  families.gauge("vllm:cache_config_info", "KV memory's configuration, as labels.", 1,
                 {{"block_size", std::to_string(stats.page_tokens)},
                  {"num_gpu_blocks", std::to_string(stats.pages_total)}});
  families.counter("vllm:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.",
                   stats.cache_query_tokens);
  families.counter("vllm:prefix_cache_hits_total", "Prompt tokens found there.", stats.cache_hit_tokens);
  families.counter("vllm:num_preemptions_total", "Requests set back to waiting to make room.",
                   stats.preemptions);
  for (auto [state, pages] :
       {std::pair{"total", stats.pages_total}, {"free", stats.pages_free}, {"cached", stats.pages_cached}}) {
    families.gauge("reprise:kv_pages", "Pages of KV memory: all, free, and held by the prefix cache alone.",
                   pages, {{"state", state}});
  }
  families.gauge("reprise:queued_tokens", "Prompt tokens accepted and not yet computed.",
                 static_cast<double>(stats.queued_tokens));
  families.gauge("reprise:prefill_tokens_per_second", "Recent speed of prefill.", stats.prefill_tokens_per_s);
  families.counter("reprise:engine_steps_total", "Batches computed.", stats.steps);
  families.counter("reprise:prefill_tokens_total", "Prompt tokens computed.", stats.prefill_tokens);
  families.counter("reprise:decode_tokens_total", "Tokens decoded.", stats.decode_tokens);
  families.counter("reprise:evicted_pages_total", "Pages taken from the prefix cache to make room.",
                   stats.evicted_pages);
  return families.take();
}

}  // namespace

std::string Metrics::text(const Stats& stats) const {
  std::vector<MetricFamily> families = stats_families(stats, model_name_);
  std::vector<MetricFamily> requests = registered_->registry.Collect();
  std::move(requests.begin(), requests.end(), std::back_inserter(families));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace reprise
