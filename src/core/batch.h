// One engine step's work and its outcome. Prefill chunk, decode and (later) speculative verification are one
// case with different widths: an item is (sequence, token range, layer range, what is wanted).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/event.h"
#include "core/kv.h"
#include "core/sampling_params.h"
#include "core/token.h"

namespace reprise {

struct BatchItem {
  RequestId sequence = 0;
  // All tokens of the sequence so far: prompt, then output. Valid until the step is committed.
  TokenSpan tokens;
  uint32_t prompt_size = 0;     // tokens[0, prompt_size) is the prompt
  uint32_t begin = 0, end = 0;  // positions computed in this step: tokens[begin, end), end <= tokens.size()
  uint32_t layer_begin = 0, layer_end = 0;  // of the model's layers; a chunk that stops before the last layer
                                            // is continued by a later item with the same [begin, end)
  PageTables pages;                         // covers [0, end)
  bool sample = false;  // with the last layer: draw the token that follows position end - 1
  const SamplingParams* sampling = nullptr;  // set when sample is
  TokenSpan banned;                          // ids that must not be drawn (stop tokens before min_tokens)
  // With the last layer: the log-probabilities of tokens[score_begin + 1, score_end + 1), which follow the
  // positions [score_begin, score_end), a part of [begin, end); equal: none. And of the `score_top`
  // likeliest.
  uint32_t score_begin = 0, score_end = 0;
  int32_t score_top = 0;
};

struct PageCopy {
  uint32_t group;
  PageId from, to;
};

struct Batch {
  std::vector<PageCopy> copies;      // done before the items
  std::vector<RequestId> abandoned;  // sequences whose half-done layers are to be forgotten, before the items
  std::vector<BatchItem> items;      // at most one per sequence
  bool empty() const { return copies.empty() && abandoned.empty() && items.empty(); }
};

struct StepResult {
  // One per item: the sampled tokens (empty when nothing was to be sampled). Error: only that sequence fails
  // (a row of logits that is not finite, say).
  std::vector<Result<std::vector<SampledToken>>> items;
  // One per item, its scored tokens in order; empty where no item of the batch asked for any.
  std::vector<std::vector<SampledToken>> scored;
  Nanos elapsed = 0;  // launch to done: the scheduler's cost model learns from it
};

}  // namespace reprise
