// What the next step does: every decoding sequence, and beside them as much prefill as the time allows.
//
// Pace. While D is the predicted time of the decode part, prefill gets prefill_share * D: inter-token latency
// is about (1 + share) times that of decoding alone, and the prompt goes on at share / (1 + share) of its
// speed alone. A budget is spent on as many tokens as a chunk may have and few layers, not on few tokens and
// all layers: each weight is then read once for many tokens. A layer costs its tokens and the reading of its
// weights (pass_ns), which for a mixture of experts is as much as dozens of tokens.
//
// Order. Score = tokens left to compute + what the session got more than the least served one (capped) - age
// * rate; lowest first. The first two are bounded, so whoever waits long enough is first. A waiting sequence
// that is first in line but does not fit closes the door for those behind it: they cannot starve it of pages.
#include <algorithm>
#include <cmath>

#include "cache/common_prefix.h"
#include "sched/state.h"

namespace reprise {
namespace {

constexpr double kMostDebt = 4096;       // tokens
constexpr double kAgeingShare = 0.125;   // of the prefill speed
constexpr double kLeastAgeing = 64;      // tokens per second
constexpr uint32_t kMostOpenChunks = 4;  // the executor keeps activations for each
constexpr uint32_t kSmallestSlice = 32;  // tokens: below it a slice costs more than its tokens
constexpr double kSmallestShare = 0.25;  // of a step's budget: less is not worth another item
// Slices of a mixture of experts lose much time to reading weights: they get more of it, 3.4 times the
// latency.
constexpr double kMoreForExperts = 0.4;  // decode times
constexpr Nanos kEstimateLife = 50 * kMillisecond;
constexpr int kEstimatesPerStep = 16;
constexpr Nanos kLeastWait = 100 * kMillisecond;  // for another's prefix

}  // namespace

void Scheduler::State::plan_decodes() {
  std::vector<Sequence*> decoding;
  for (auto& [id, sequence] : sequences) {
    if (!sequence.blocked && std::holds_alternative<Decoding>(sequence.state)) decoding.push_back(&sequence);
  }
  std::ranges::sort(decoding, {}, &Sequence::start_order);
  for (Sequence* sequence : decoding) {
    if (!std::holds_alternative<Decoding>(sequence->state)) continue;  // preempted by an earlier one
    const uint32_t begin = sequence->running()->computed;
    if (obtain(*sequence, begin, begin + 1)) {
      items.push_back({sequence, begin, begin + 1, 0, config.layers, true, true});
    } else {
      preempt(*sequence);
    }
  }
}

double Scheduler::State::prefill_share() const {
  return config.prefill_share + (config.sparse ? kMoreForExperts : 0);
}

void Scheduler::State::plan_prefill(Nanos now) {
  StepWork decodes;
  for (const Item& item : items) decodes.add_decode(item.begin);
  const bool alone = items.empty();
  const double total = !config.pace ? INFINITY
                       : alone      ? static_cast<double>(config.longest_step)
                                    : prefill_share() * cost.decode_ns(decodes);
  if (!alone && config.pace && cost.wants_decode_alone(decodes.decode_rows, mixed_steps)) return;
  double budget = total;
  const uint32_t decode_rows = static_cast<uint32_t>(items.size());
  uint32_t rows = config.max_rows - decode_rows;
  if (config.pace) rows = std::min(rows, config.chunk_tokens);

  prefilling.clear();
  for (auto& [id, sequence] : sequences)
    if (std::holds_alternative<Prefilling>(sequence.state)) prefilling.push_back(&sequence);

  bool door_open = true, first = true;
  for (const Candidate& candidate : prefill_order(now)) {
    Sequence& sequence = *candidate.sequence;
    if (rows == 0 || budget <= 0) break;
    if (!first && config.pace && budget < kSmallestShare * total) break;
    if (sequence.waiting()) {
      if (!door_open) continue;
      const Admission admission = admit(sequence, now);
      if (admission == Admission::kNoRoom) door_open = false;
      if (admission != Admission::kStarted) continue;
    }
    if (!std::holds_alternative<Prefilling>(sequence.state)) continue;  // preempted by one before it
    std::optional<Item> item = size_item(sequence, budget, rows);
    if (!item) continue;
    if (item->layer_begin == 0 && item->layer_end < config.layers && open_chunks() >= kMostOpenChunks)
      continue;
    if (!obtain(sequence, item->begin, item->end)) continue;
    items.push_back(*item);
    StepWork spent;
    spent.decode_rows = decode_rows;
    add_prefill(*item, spent);
    budget -= cost.prefill_ns(spent);
    rows -= item->end - item->begin;
    first = false;
  }
}

std::vector<Scheduler::State::Candidate> Scheduler::State::prefill_order(Nanos now) {
  std::vector<Candidate> order;
  const double tokens_per_s = 1e9 / (cost.token_layer_ns(0, /*beside=*/false) * config.layers);
  const double ageing = std::max(kLeastAgeing, kAgeingShare * tokens_per_s);
  const uint64_t least_served = ledger.least_served();
  int estimates = kEstimatesPerStep;
  for (auto& [id, sequence] : sequences) {
    if (sequence.blocked) continue;
    double left;
    if (sequence.waiting()) {
      if (estimates > 0 && (!sequence.estimated || now - sequence.estimated_at > kEstimateLife)) {
        --estimates;
        sequence.cached_estimate = cache.match_length(sequence.key, sequence.usable());
        sequence.estimated_at = now;
        sequence.estimated = true;
      }
      left = sequence.size() - (sequence.estimated ? sequence.cached_estimate : 0);
    } else if (auto* prefilling = std::get_if<Prefilling>(&sequence.state)) {
      const Running& run = prefilling->run;
      left = sequence.size() - run.computed;
      if (run.chunk)
        left -= static_cast<double>(run.chunk->end - run.chunk->begin) * run.chunk->layer / config.layers;
    } else {
      continue;
    }
    const double debt = static_cast<double>(ledger.served(sequence.session) - least_served);
    const double age = to_seconds(now - sequence.arrived) * ageing;
    order.push_back({left + std::min(debt, kMostDebt) - age, &sequence});
  }
  std::ranges::stable_sort(order, {}, &Candidate::score);
  return order;
}

Scheduler::State::Admission Scheduler::State::admit(Sequence& sequence, Nanos now) {
  const auto others = [&] {  // that go on by themselves and will make room
    return std::ranges::any_of(
        sequences, [](const auto& each) { return each.second.running() && !each.second.blocked; });
  };
  // Decodes and prefill share the rows of a step: half are kept for the latter.
  const uint32_t most = std::min(config.max_running, config.max_rows / 2);
  if (running >= most) {
    Sequence* blocked = others() ? nullptr : victim_for(sequence);
    if (!blocked) return Admission::kNoRoom;
    preempt(*blocked);
  }
  if (computed_by_other(sequence, now)) return Admission::kWaits;

  Running run;
  {
    Match match = cache.match(sequence.key, sequence.usable());
    run.computed = match.tokens;
    run.shared = match.tokens / page_tokens * page_tokens;
    run.pages = std::move(match.pages);
  }
  for (uint32_t g = 0; g < groups; ++g) {
    if (config.kv.groups[g].kind == KvKind::kDraft && run.computed > 0 && run.pages[g].size() == 0)
      run.drafting = false;
  }
  while (!has_room_to(run, sequence.size())) {
    if (others()) return Admission::kNoRoom;
    if (Sequence* blocked = victim_for(sequence)) {
      preempt(*blocked);
    } else {  // alone, and the match itself is in the way: its last page would have to be there twice
      run = Running{};
      break;
    }
  }

  if (sequence.start_order == 0) {
    sequence.start_order = ++started;
    sequence.started = now;
    sequence.cached_tokens = run.computed;
    if (!sequence.scoring())
      counters.cache_query_tokens += sequence.prompt_size;  // else nothing is looked up
    counters.cache_hit_tokens += run.computed;
    sink.emit(sequence.id, Started{run.computed});
  }
  sequence.wait_until.reset();
  sequence.state = Prefilling{std::move(run)};
  prefilling.push_back(&sequence);
  ++running;
  return Admission::kStarted;
}

// Whether another sequence is computing a prefix of this one, beyond what is cached, and it is worth waiting
// for: at most twice as long as computing it here would take.
bool Scheduler::State::computed_by_other(Sequence& sequence, Nanos now) {
  if (sequence.scoring()) return false;  // what another computes spares it nothing
  uint32_t gain = 0, cached = 0;
  bool cached_known = false;
  for (const Sequence* leader : prefilling) {
    const Sequence& other = *leader;
    const auto* state = std::get_if<Prefilling>(&other.state);  // not if it was preempted in this plan
    if (!state || other.blocked || other.key != sequence.key) continue;
    if (other.tokens[0] != sequence.tokens[0]) continue;
    if (sequence.leader != other.id) {
      sequence.leader = other.id;
      sequence.leader_common = static_cast<uint32_t>(common_prefix(other.tokens, sequence.tokens));
    }
    const uint32_t whole = std::min(sequence.leader_common, sequence.size() - 1) / page_tokens * page_tokens;
    if (state->run.shared >= whole) continue;
    if (!cached_known) {
      cached = cache.match_length(sequence.key, sequence.usable());
      cached_known = true;
    }
    if (whole >= cached + page_tokens) gain = std::max(gain, whole - cached);
  }
  if (gain == 0) return false;
  if (!sequence.wait_until) {
    const double alone = cost.token_layer_ns(cached, /*beside=*/false) * config.layers * gain;
    sequence.wait_until = now + kLeastWait + static_cast<Nanos>(2 * alone);
  }
  return now < *sequence.wait_until;
}

std::optional<Scheduler::State::Item> Scheduler::State::size_item(const Sequence& sequence, double budget_ns,
                                                                  uint32_t rows_left) const {
  const Running& run = *sequence.running();
  const uint32_t target = sequence.size();
  const bool beside = std::ranges::any_of(items, &Item::decode);
  const double token_ns = cost.token_layer_ns(run.computed, beside), pass_ns = cost.pass_ns(beside);
  Item item{const_cast<Sequence*>(&sequence), run.computed, 0, 0, config.layers, false, false};
  if (run.chunk) {
    const uint32_t tokens = run.chunk->end - run.chunk->begin;
    if (tokens > rows_left) return std::nullopt;
    item.end = run.chunk->end;
    item.layer_begin = run.chunk->layer;
    const uint32_t left = config.layers - item.layer_begin;
    if (config.pace) {
      const double layers = 1.1 * budget_ns / (pass_ns + token_ns * tokens) +
                            0.1;  // rather a little more than a remainder for later
      item.layer_end = item.layer_begin + static_cast<uint32_t>(std::clamp(layers, 1.0, 1.0 * left));
    }
  } else {
    uint32_t tokens = std::min({target - run.computed, config.chunk_tokens, config.max_rows / 2, rows_left});
    const double affordable = budget_ns / (pass_ns + token_ns * tokens);  // layers
    if (config.pace && affordable < config.layers) {
      // As many tokens as possible, through slices of equal height.
      const double fewest = std::clamp(std::ceil(affordable), 1.0, 1.0 * config.layers);
      const uint32_t slices = std::max(1u, config.layers / static_cast<uint32_t>(fewest));
      const uint32_t layers = (config.layers + slices - 1) / slices;
      const double fitting = std::max((budget_ns / layers - pass_ns) / token_ns, 1.0 * kSmallestSlice);
      tokens = static_cast<uint32_t>(std::min(fitting, 1.0 * tokens));
      item.layer_end = layers;
    }
    if (config.pace && sequence.scoring()) {  // the last slice ends with the output head
      const double fitting = budget_ns / (token_ns * std::max(1.0, config.head_layers));
      tokens = std::min(tokens, static_cast<uint32_t>(std::max(fitting, 1.0 * kSmallestSlice)));
    }
    item.end = item.begin + tokens;
    // Whole pages are shared at once, and are where states are kept; but a small slice is not cut by a tenth
    // for the former alone.
    const uint32_t aligned = item.end / page_tokens * page_tokens;
    const bool cheap = keeps_states || (item.end - aligned) * 32 <= tokens;
    if (config.pace && item.end < target && aligned > item.begin && cheap) item.end = aligned;
  }
  if (config.slice_layers > 0) {
    item.layer_end = std::min(config.layers, item.layer_begin + config.slice_layers);
  }
  item.sample = item.end == target && item.layer_end == config.layers && sequence.max_tokens > 0;
  if (sequence.scoring() && item.layer_end == config.layers) {
    const uint32_t begin = std::max(item.begin, sequence.scored);
    const uint32_t end = std::min(item.end, sequence.prompt_size - 1);
    if (begin < end) item.score_begin = begin, item.score_end = end;
  }
  return item;
}

void Scheduler::State::add_prefill(const Item& item, StepWork& work) const {
  work.add_prefill(item.begin, item.end, item.layer_end - item.layer_begin);
  work.add_scores(item.score_end - item.score_begin, config.head_layers);
}

uint32_t Scheduler::State::open_chunks() const {
  uint32_t open = 0;
  for (const auto& [id, sequence] : sequences)
    open += !sequence.blocked && sequence.running() && sequence.running()->chunk;
  for (const Item& item : items) open += item.layer_begin == 0 && item.layer_end < config.layers;
  return open;
}

Batch Scheduler::State::make_batch() {
  Batch batch;
  batch.abandoned = std::exchange(abandoned, {});
  for (const Copy& copy : copies) batch.copies.push_back({copy.group, copy.from.id(), copy.to});
  work = {};
  for (const Item& item : items) {
    Sequence& sequence = *item.sequence;
    const Running& run = *sequence.running();
    sequence.in_step = true;
    if (item.decode) {
      work.add_decode(item.begin);
    } else {
      add_prefill(item, work);
    }
    BatchItem& out = batch.items.emplace_back();
    out.sequence = sequence.id;
    out.tokens = sequence.tokens;
    out.prompt_size = sequence.prompt_size;
    out.begin = item.begin;
    out.end = item.end;
    out.layer_begin = item.layer_begin;
    out.layer_end = item.layer_end;
    for (uint32_t g = 0; g < groups; ++g) out.pages[g] = run.pages[g].ids();
    out.score_begin = item.score_begin;
    out.score_end = item.score_end;
    out.score_top = sequence.prompt_logprobs;
    out.sample = item.sample;
    if (item.sample) {
      out.sampling = &sequence.sampling;
      if (sequence.outputs < sequence.min_tokens) out.banned = sequence.stop_tokens;
    }
  }
  return batch;
}

}  // namespace reprise
