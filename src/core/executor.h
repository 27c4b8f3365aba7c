// Computes batches. Called by the engine thread only. Launch and wait are apart so that a device can run
// ahead of the host by one step; tickets are waited for in order.
#pragma once

#include <cstdint>

#include "core/batch.h"
#include "core/kv.h"

namespace reprise {

using Ticket = uint64_t;

struct Executor {
  virtual ~Executor() = default;
  virtual Ticket launch(const Batch& batch) = 0;  // `batch` must stay valid until its wait() returns
  virtual StepResult wait(Ticket ticket) = 0;
  virtual uint32_t layers() const = 0;
  virtual const KvSpec& kv_spec() const = 0;
  virtual uint32_t pages(uint32_t group) const = 0;  // how many were allocated
};

}  // namespace reprise
