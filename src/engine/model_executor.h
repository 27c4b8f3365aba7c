// The Executor over a Model on this machine's cores: turns a batch into forward passes and sampled tokens.
//
// Owns the KV memory (reserved at start; the system gives zeroed pages as they are first touched) and, for
// chunks that have not passed all layers yet, their rows between two steps. launch() only notes the batch;
// wait() computes it, on the calling thread and the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/task_pool.h"
#include "core/executor.h"
#include "engine/sampler/sampler.h"
#include "kernels/buffer.h"
#include "model/model.h"

namespace reprise {

class ModelExecutor final : public Executor {
 public:
  // `pages` of every KV group. Owns the model; the pool outlives the executor.
  ModelExecutor(std::unique_ptr<Model> model, TaskPool& pool, uint32_t pages);

  // One batch at a time: launch() after the last wait(). Broken promises of the scheduler (a page out of
  // range, a chunk continued that was not begun) abort. A result item is an Error when its row of logits is
  // not finite, or when all its tokens are banned; the other items are unaffected. Scored rows pass the
  // output head in blocks: however long a chunk, their logits take a fixed amount of memory.
  Ticket launch(const Batch& batch) override;
  StepResult wait(Ticket ticket) override;
  uint32_t layers() const override { return model_->layers(); }
  double pass_tokens() const override;
  double head_layers() const override;
  bool sparse() const override;
  const KvSpec& kv_spec() const override { return spec_; }
  uint32_t pages(uint32_t) const override { return pages_; }

  size_t chunks_in_flight() const { return unfinished_.size(); }

 private:
  // Items of one layer range: rows of one forward pass, in this order.
  struct Group {
    uint32_t layer_begin = 0, layer_end = 0;
    std::vector<uint32_t> items;       // indices into the batch
    std::vector<uint32_t> first_rows;  // of each item
    uint32_t rows = 0;
  };

  void copy_pages(const Batch& batch);
  std::vector<Group> group_items(const Batch& batch) const;
  void forward(const Batch& batch, const Group& group, StepResult& result);
  void restore_rows(const Batch& batch, const Group& group);
  void save_rows(const Batch& batch, const Group& group);
  void score(const Batch& batch, const Group& group, StepResult& result);
  void sample(const Batch& batch, const Group& group, StepResult& result);
  std::byte* page(uint32_t group, PageId id) const;

  std::unique_ptr<Model> model_;
  TaskPool& pool_;
  const KvSpec spec_;
  const uint32_t pages_;
  std::vector<kernels::Buffer> memory_;  // by KV group

  Activations rows_;  // of the forward pass at work
  // Chunks between layers, by sequence, and activations of earlier ones to use again.
  std::unordered_map<RequestId, Activations> unfinished_;
  std::vector<Activations> spare_;

  kernels::Buffer logits_;
  std::vector<Sampler> samplers_;  // by worker
  const Batch* launched_ = nullptr;
  Nanos launched_at_ = 0;
  Ticket last_ticket_ = 0;
};

}  // namespace reprise
