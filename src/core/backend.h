// The engine as api/ sees it. Tests of api/ implement it with a fake.
#pragma once

#include <memory>

#include "base/result.h"
#include "core/event_queue.h"
#include "core/generation.h"
#include "core/stats.h"

namespace reprise {

// A submitted request. The owner reads `events` until Finished; dropping it without that is a leak of a
// running request: call Backend::cancel first (an RAII guard in api/ does).
struct Stream {
  RequestId id = 0;
  std::shared_ptr<EventQueue> events;
};

struct Backend {
  virtual ~Backend() = default;
  // Any thread, never blocks. Errors: kOverloaded (a request or token budget is full: answer 429),
  // kUnavailable (draining or stopped: 503), kTooLarge or kInvalid (can never run here: 400).
  virtual Result<Stream> submit(Generation generation) = 0;
  // Any thread, never blocks, idempotent. The stream still ends with Finished, within one engine step.
  virtual void cancel(RequestId id) = 0;
  virtual Stats stats() const = 0;  // any thread
};

}  // namespace reprise
