// Design: items with equal layer ranges are computed by one forward pass, so that a step reads each layer's
// weights as few times as possible: normally once for all decodes and whole chunks, and once for a chunk that
// is sliced by layers. The rows of a sliced chunk are kept per sequence between its slices. A chunk alone in
// its range (the rule) moves in and out of the pass without a copy; several are gathered and scattered.
//
// Invariant: unfinished_ holds exactly the sequences whose last item stopped before the last layer, less the
// abandoned.
#include "engine/model_executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace reprise {
namespace {
constexpr size_t kScoredRows = 64;  // at once: of 250k logits each, 64 MB
}  // namespace

ModelExecutor::ModelExecutor(std::unique_ptr<Model> model, TaskPool& pool, uint32_t pages)
    : model_(std::move(model)),
      pool_(pool),
      spec_(model_->kv_spec()),
      pages_(pages),
      samplers_(pool.threads()) {
  CHECK(!spec_.groups.empty() && spec_.groups.size() <= kMaxKvGroups, "{} KV groups", spec_.groups.size());
  for (const KvGroup& group : spec_.groups) memory_.emplace_back(group.page_bytes * pages_);
}

double ModelExecutor::pass_tokens() const {
  const TokenCost cost = model_->token_cost();
  if (cost.layer_macs == 0) return 0;
  return cost.macs_per_byte * static_cast<double>(cost.layer_bytes) / static_cast<double>(cost.layer_macs);
}

double ModelExecutor::head_layers() const {
  const TokenCost cost = model_->token_cost();
  if (cost.layer_macs == 0) return 0;
  return static_cast<double>(cost.head_macs) * layers() / static_cast<double>(cost.layer_macs);
}

bool ModelExecutor::sparse() const {
  const TokenCost cost = model_->token_cost();
  return cost.layer_bytes > cost.weight_bytes;
}

std::byte* ModelExecutor::page(uint32_t group, PageId id) const {
  if (id == kNoPage) return nullptr;
  CHECK(id < pages_, "page {} of {}", id, pages_);
  return memory_[group].data() + size_t{id} * spec_.groups[group].page_bytes;
}

Ticket ModelExecutor::launch(const Batch& batch) {
  CHECK(launched_ == nullptr, "one batch at a time");
  launched_ = &batch;
  launched_at_ = now();
  return ++last_ticket_;
}

StepResult ModelExecutor::wait(Ticket ticket) {
  CHECK(launched_ != nullptr && ticket == last_ticket_, "ticket {} is not in flight", ticket);
  const Batch& batch = *std::exchange(launched_, nullptr);
  for (RequestId id : batch.abandoned)
    if (auto node = unfinished_.extract(id)) spare_.push_back(std::move(node.mapped()));
  copy_pages(batch);

  StepResult result;
  result.items.resize(batch.items.size());
  for (const Group& group : group_items(batch)) forward(batch, group, result);
  result.elapsed = now() - launched_at_;
  return result;
}

void ModelExecutor::copy_pages(const Batch& batch) {
  for (const PageCopy& copy : batch.copies) {
    std::byte* to = page(copy.group, copy.to);
    const std::byte* from = page(copy.group, copy.from);
    CHECK(to != nullptr && from != nullptr && to != from, "page copy {} -> {}", copy.from, copy.to);
    std::memcpy(to, from, spec_.groups[copy.group].page_bytes);
  }
}

std::vector<ModelExecutor::Group> ModelExecutor::group_items(const Batch& batch) const {
  std::vector<Group> groups;
  for (uint32_t i = 0; i < batch.items.size(); ++i) {
    const BatchItem& item = batch.items[i];
    CHECK(item.begin < item.end && item.end <= item.tokens.size(), "tokens [{}, {}) of {}", item.begin,
          item.end, item.tokens.size());
    CHECK(item.layer_begin < item.layer_end && item.layer_end <= layers(), "layers [{}, {}) of {}",
          item.layer_begin, item.layer_end, layers());
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.layer_begin == item.layer_begin && g.layer_end == item.layer_end;
    });
    if (group == groups.end()) group = groups.insert(group, Group{item.layer_begin, item.layer_end});
    group->items.push_back(i);
    group->first_rows.push_back(group->rows);
    group->rows += item.end - item.begin;
  }
  return groups;
}

void ModelExecutor::forward(const Batch& batch, const Group& group, StepResult& result) {
  if (group.layer_begin > 0) restore_rows(batch, group);

  // Page tables as addresses: one array for all, so that spans into it stay valid.
  size_t entries = 0;
  for (uint32_t index : group.items)
    for (uint32_t g = 0; g < spec_.groups.size(); ++g) entries += batch.items[index].pages[g].size();
  std::vector<std::byte*> addresses;
  addresses.reserve(entries);
  std::vector<SequenceRows> sequences;
  sequences.reserve(group.items.size());
  for (uint32_t index : group.items) {
    const BatchItem& item = batch.items[index];
    SequenceRows rows{item.tokens.subspan(item.begin, item.end - item.begin), item.begin, {}};
    for (uint32_t g = 0; g < spec_.groups.size(); ++g) {
      const size_t first = addresses.size();
      for (PageId id : item.pages[g]) addresses.push_back(page(g, id));
      rows.pages[g] = std::span(addresses).subspan(first);
      CHECK(spec_.groups[g].kind != KvKind::kFull || rows.pages[g].size() * spec_.page_tokens >= item.end,
            "{} pages do not cover {} tokens", rows.pages[g].size(), item.end);
    }
    sequences.push_back(rows);
  }

  model_->forward({sequences, group.layer_begin, group.layer_end}, rows_);
  if (group.layer_end < layers()) {
    save_rows(batch, group);
  } else {
    score(batch, group, result);
    sample(batch, group, result);
  }
}

void ModelExecutor::restore_rows(const Batch& batch, const Group& group) {
  const auto take = [&](uint32_t index) {
    const BatchItem& item = batch.items[index];
    auto node = unfinished_.extract(item.sequence);
    CHECK(!node.empty() && node.mapped().rows == item.end - item.begin, "sequence {} has no rows at layer {}",
          item.sequence, item.layer_begin);
    return std::move(node.mapped());
  };
  if (group.items.size() == 1) {
    spare_.push_back(std::exchange(rows_, take(group.items[0])));
    return;
  }
  const size_t row_bytes = model_->hidden_size() * sizeof(float);
  rows_.hidden.reserve(group.rows * row_bytes);
  rows_.rows = group.rows;
  for (size_t i = 0; i < group.items.size(); ++i) {
    Activations saved = take(group.items[i]);
    std::memcpy(rows_.hidden.data() + group.first_rows[i] * row_bytes, saved.hidden.data(),
                saved.rows * row_bytes);
    spare_.push_back(std::move(saved));
  }
}

void ModelExecutor::save_rows(const Batch& batch, const Group& group) {
  const auto fresh = [&] {
    if (spare_.empty()) return Activations{};
    Activations spare = std::move(spare_.back());
    spare_.pop_back();
    return spare;
  };
  if (group.items.size() == 1) {
    const bool added =
        unfinished_.emplace(batch.items[group.items[0]].sequence, std::exchange(rows_, fresh())).second;
    CHECK(added, "a chunk was begun before the sequence's last one was finished or abandoned");
    return;
  }
  const size_t row_bytes = model_->hidden_size() * sizeof(float);
  for (size_t i = 0; i < group.items.size(); ++i) {
    const BatchItem& item = batch.items[group.items[i]];
    Activations saved = fresh();
    saved.rows = item.end - item.begin;
    saved.hidden.reserve(saved.rows * row_bytes);
    std::memcpy(saved.hidden.data(), rows_.hidden.data() + group.first_rows[i] * row_bytes,
                saved.rows * row_bytes);
    const bool added = unfinished_.emplace(item.sequence, std::move(saved)).second;
    CHECK(added, "a chunk was begun before the sequence's last one was finished or abandoned");
  }
}

void ModelExecutor::score(const Batch& batch, const Group& group, StepResult& result) {
  struct Row {
    uint32_t item;
    TokenId token;
  };
  std::vector<Row> wanted;
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < group.items.size(); ++i) {
    const BatchItem& item = batch.items[group.items[i]];
    if (item.score_begin == item.score_end) continue;
    CHECK(item.begin <= item.score_begin && item.score_begin < item.score_end && item.score_end <= item.end &&
              item.score_end < item.tokens.size(),
          "scores [{}, {}) of [{}, {})", item.score_begin, item.score_end, item.begin, item.end);
    for (uint32_t p = item.score_begin; p < item.score_end; ++p) {
      wanted.push_back({group.items[i], item.tokens[p + 1]});
      rows.push_back(group.first_rows[i] + (p - item.begin));
    }
  }
  if (rows.empty()) return;
  result.scored.resize(batch.items.size());
  const size_t vocabulary = model_->vocabulary_size();
  logits_.reserve(std::min(rows.size(), kScoredRows) * vocabulary * sizeof(float));
  std::vector<Result<SampledToken>> scores(std::min(rows.size(), kScoredRows));
  for (size_t first = 0; first < rows.size(); first += kScoredRows) {
    const size_t size = std::min(rows.size() - first, kScoredRows);
    model_->logits(rows_, std::span(rows).subspan(first, size), logits_.as<float>());
    pool_.run(size, [&](size_t i, int worker) {
      const Row& row = wanted[first + i];
      scores[i] = samplers_[worker].score({logits_.as<float>() + i * vocabulary, vocabulary}, row.token,
                                          batch.items[row.item].score_top);
    });
    for (size_t i = 0; i < size; ++i) {
      const uint32_t item = wanted[first + i].item;
      if (scores[i]) {
        result.scored[item].push_back(*std::move(scores[i]));
      } else {
        result.items[item] = std::unexpected(std::move(scores[i]).error());
      }
    }
  }
}

void ModelExecutor::sample(const Batch& batch, const Group& group, StepResult& result) {
  std::vector<uint32_t> rows, items;
  for (size_t i = 0; i < group.items.size(); ++i) {
    const BatchItem& item = batch.items[group.items[i]];
    if (!item.sample || !result.items[group.items[i]]) continue;  // or its scores have failed
    items.push_back(group.items[i]);
    rows.push_back(group.first_rows[i] + (item.end - item.begin) - 1);
  }
  if (rows.empty()) return;
  const size_t vocabulary = model_->vocabulary_size();
  logits_.reserve(rows.size() * vocabulary * sizeof(float));
  model_->logits(rows_, rows, logits_.as<float>());
  pool_.run(items.size(), [&](size_t i, int worker) {
    const BatchItem& item = batch.items[items[i]];
    const SampleRequest request{item.tokens.first(item.end), std::min(item.prompt_size, item.end),
                                item.sampling, item.banned};
    auto sampled = samplers_[worker].sample({logits_.as<float>() + i * vocabulary, vocabulary}, request);
    if (sampled) {
      result.items[items[i]]->push_back(*std::move(sampled));
    } else {
      result.items[items[i]] = std::unexpected(std::move(sampled).error());
    }
  });
}

}  // namespace reprise
