// What /metrics tells about one model, in Prometheus' text format. vLLM's names and meanings (docs.vllm.ai,
// "Production metrics"), so that routers, autoscalers and dashboards work unchanged; `reprise:` names for
// what vLLM has no word for. Every metric carries the label model_name. Any thread; recording costs an atomic
// or a short lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/chat_messages.h"
#include "base/clock.h"
#include "base/result.h"
#include "core/stats.h"

namespace reprise {

struct RequestOutcome {
  std::string_view finish_reason;  // "stop", "length", "abort" (the client went) or "error"
  Nanos total = 0;                 // arrival -> end
  Nanos queued = 0, prefill = 0, decode = 0;
  uint64_t prompt_tokens = 0, cached_tokens = 0, output_tokens = 0;
};

class Metrics {
 public:
  explicit Metrics(const std::string& model_name);
  ~Metrics();

  void first_token(Nanos since_arrival);
  void token_gap(Nanos since_last_token);  // one a step, however many tokens it brought
  void tokens(uint64_t generated);
  void finished(const RequestOutcome& outcome);  // once for every choice that was accepted
  void rejected(ErrorKind kind);                 // once for every request that was not
  void omitted(const OmittedParts& parts);       // of an accepted request

  std::string text(const Stats& stats) const;

 private:
  struct Registered;
  std::unique_ptr<Registered> registered_;
  std::string model_name_;
};

// The text format's Content-Type.
inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace reprise
