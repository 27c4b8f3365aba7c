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
  // What a pass of some dozens of tokens through a layer costs besides them, for reading its weights: as much
  // as so many tokens more. Large for a mixture of experts, which needs nearly all of them for a few tokens.
  virtual double pass_tokens() const { return 0; }
  // Whether a pass of many tokens reads more than the decode of one does: a mixture of experts.
  virtual bool sparse() const { return false; }
  // What a row through the output head costs (one that is scored): as much as a token through so many layers.
  virtual double head_layers() const { return 0; }
  virtual const KvSpec& kv_spec() const = 0;
  virtual uint32_t pages(uint32_t group) const = 0;  // how many were allocated
};

}  // namespace reprise
