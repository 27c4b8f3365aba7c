// The engine: runs one model for many requests at once. It is the Backend that api/ talks to.
//
// One thread of its own loops: drain the mailbox, plan a batch (sched/), compute it (executor), commit, emit
// events. With nothing to do it sleeps on the mailbox. Callers never touch its state: they post to the
// mailbox and read events and the published Stats.
//
//   open -> accepting -> drain() -> wait_idle() -> stop()
//
// Every accepted request ends with exactly one Finished, also when the engine is stopped under it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/task_pool.h"
#include "core/backend.h"
#include "core/executor.h"
#include "model/model.h"

namespace reprise {

struct EngineConfig {
  size_t kv_memory = 0;                  // bytes for KV pages; 0 = default_kv_memory() (engine/kv_memory.h)
  uint32_t prefill_chunk = 512;          // prompt tokens of one sequence computed in one batch item, at most
  uint32_t max_running = 256;            // sequences that hold pages at once
  uint32_t max_requests = 1024;          // accepted and unfinished; more is kOverloaded
  uint64_t max_queued_tokens = 1 << 20;  // prompt tokens accepted and not yet started; more is kOverloaded
  uint32_t event_capacity = 256;         // events a reader may lag behind before its request pauses
  Nanos slow_reader_limit = 60 * kSecond;  // a request paused that long for its reader is cancelled
  // For tests of invariance: SchedulerConfig::pace and slice_layers.
  bool pace = true;
  uint32_t slice_layers = 0;
};

// What the configuration and the model come to: printed at start.
struct Limits {
  uint32_t context = 0;     // tokens of one sequence, at most: of the model, and of all KV memory
  uint32_t vocabulary = 0;  // token ids are below it
  uint32_t page_tokens = 0;
  uint32_t pages = 0;      // per KV group
  size_t kv_bytes = 0;     // all groups
  uint64_t kv_tokens = 0;  // pages * page_tokens
  uint32_t prefill_chunk = 0;
  uint32_t max_running = 0;
  uint32_t max_requests = 0;
  uint64_t max_queued_tokens = 0;

  std::string describe() const;  // one line for the log
};

// `pages` is that of every KV group.
Limits derive_limits(const EngineConfig& config, const Model& model, uint32_t pages);

class Engine final : public Backend {
 public:
  // Takes the executor and starts the thread. `fingerprint` names the model in the prefix cache's root key.
  // Most callers want open_engine().
  Engine(std::unique_ptr<Executor> executor, const Limits& limits, const EngineConfig& config,
         uint64_t fingerprint);
  ~Engine() override;  // stop()

  // Backend. kInvalid: empty prompt, a token id outside the vocabulary. kTooLarge: prompt and
  // max_tokens together exceed limits().context.
  Result<Stream> submit(Generation generation) override;
  void cancel(RequestId id) override;
  Stats stats() const override;

  const Limits& limits() const;

  // Any thread, at once: from now on submit() answers kUnavailable; what was accepted runs on.
  void drain();
  // Blocks until no accepted request is unfinished (true) or the time is over (false). Any thread but the
  // engine's.
  bool wait_idle(Nanos timeout);
  // drain(), then cancels whatever still runs, and waits for the thread's end. Idempotent. Any thread but the
  // engine's.
  void stop();

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

// Sizes the KV memory, allocates it and starts. The engine owns the model; the pool must outlive the engine
// and be used by nobody else meanwhile. Tell the text side limits().context as the model's context length.
// Error: the KV memory does not hold one page, or its default size cannot be found out.
Result<std::unique_ptr<Engine>> open_engine(std::unique_ptr<Model> model, TaskPool& pool,
                                            const EngineConfig& config);

}  // namespace reprise
