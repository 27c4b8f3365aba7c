// From a model and a configuration to a running engine: sizes the KV memory and derives the limits.
#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "base/log.h"
#include "base/size.h"
#include "engine/engine.h"
#include "engine/kv_memory.h"
#include "engine/model_executor.h"

namespace reprise {

Limits derive_limits(const EngineConfig& config, const Model& model, uint32_t pages) {
  const KvSpec spec = model.kv_spec();
  Limits limits;
  limits.vocabulary = model.vocabulary_size();
  limits.page_tokens = spec.page_tokens;
  limits.pages = pages;
  for (const KvGroup& group : spec.groups) limits.kv_bytes += group.page_bytes * pages;
  limits.kv_tokens = uint64_t{pages} * spec.page_tokens;
  limits.context = static_cast<uint32_t>(std::min<uint64_t>(model.info().context_length, limits.kv_tokens));
  limits.prefill_chunk = std::max(1u, config.prefill_chunk);
  limits.max_running = std::max(1u, config.max_running);
  limits.max_requests = std::max(1u, config.max_requests);
  limits.max_queued_tokens = config.max_queued_tokens;
  return limits;
}

std::string Limits::describe() const {
  return fmt::format(
      "context {} tokens; KV cache {} in {} pages of {} tokens, {} tokens in all; prefill chunks of {} "
      "tokens; at most {} "
      "sequences at once, {} requests, {} queued prompt tokens",
      context, format_size(kv_bytes), pages, page_tokens, kv_tokens, prefill_chunk, max_running, max_requests,
      max_queued_tokens);
}

Result<std::unique_ptr<Engine>> open_engine(std::unique_ptr<Model> model, TaskPool& pool,
                                            const EngineConfig& config) {
  const KvSpec spec = model->kv_spec();
  const Result<size_t> available = available_memory();
  if (config.kv_memory == 0 && !available) return std::unexpected(available.error());
  const size_t bytes = config.kv_memory > 0 ? config.kv_memory : default_kv_memory(*available);
  if (available && bytes > *available)
    log::warn("the KV cache may grow to {}, but only {} of memory are available", format_size(bytes),
              format_size(*available));
  const uint32_t pages = pages_for(spec, bytes);
  if (pages == 0) {
    size_t page = 0;
    for (const KvGroup& group : spec.groups) page += group.page_bytes;
    return fail(ErrorKind::kInvalid, "KV memory of {} does not hold one page of {} tokens, which takes {}",
                format_size(bytes), spec.page_tokens, format_size(page));
  }
  const Limits limits = derive_limits(config, *model, pages);
  const uint64_t fingerprint = model->info().fingerprint;
  auto executor = std::make_unique<ModelExecutor>(std::move(model), pool, pages);
  return std::make_unique<Engine>(std::move(executor), limits, config, fingerprint);
}

}  // namespace reprise
