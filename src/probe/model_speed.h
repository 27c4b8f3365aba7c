// Speed of a model in this process, without server or scheduler: prefill of a prompt and greedy decode, at
// any depth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report.h"

namespace reprise {

struct ModelBenchOptions {
  std::filesystem::path file;
  uint32_t prompt = 512;   // tokens prefilled at position `depth`; 0 = no prefill row
  uint32_t generate = 64;  // tokens decoded after depth + prompt; 0 = no decode row
  uint32_t depth = 0;      // tokens in the cache before; really computed
  uint32_t chunk = 512;    // prefill rows that go through the model together
  int threads = 0;         // 0 = all usable CPUs
  std::string kernels;     // table by name; empty = the best for this CPU
  double seconds = 6;      // of measuring, for each of prefill and decode
};

// Rows: "prefill N" and "decode N" in tokens/s with their share of the roof, then bytes and operations per
// token. A prompt's roof is the time that its operations take at the peaks of their kinds: int8 dot for
// quantised matrices, fp32 FMA for the others, and for attention that or the bf16 dot product. A decoded
// token's is the time of reading what it needs. Each row's hash is of its own output: the logits of the last
// prompt token; the decoded tokens, one after the other, then the last logits. depth + prompt + generate may
// exceed the trained context (the text is then meaningless, the work is not). `progress` (may be empty) gets
// short lines. Errors: as load_model, unknown kernels, too little memory for the roof, and passes that did
// not all give the same output.
Result<std::vector<BenchRow>> bench_model(const ModelBenchOptions& options,
                                          const std::function<void(const std::string&)>& progress = {});

}  // namespace reprise
