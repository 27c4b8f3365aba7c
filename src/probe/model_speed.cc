// Design: a prefill pass is cut into slices (some layers of one chunk of rows) of at most about 40 ms, each a
// window of its own series; the time of the prefill is the sum of the slices' medians, so one slow window
// costs nothing but itself. Decode windows are runs of a few steps. Passes alternate until the time is spent.
// Every pass computes the same tokens: the hash of greedy tokens and last logits must not change, else the
// rows fail.
#include "probe/model_speed.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "kernels/roof.h"
#include "model/load.h"
#include "probe/bandwidth.h"
#include "probe/windows.h"

namespace reprise {

namespace {
constexpr double kSliceSeconds = 0.04;
constexpr int kLeastPasses = 3;

class Bench {
 public:
  Bench(const ModelBenchOptions& options, Model& model, TaskPool& pool, WindowTimer& timer)
      : options_(options), model_(model), pool_(pool), timer_(timer), layers_(model.layers()) {
    const KvSpec spec = model.kv_spec();
    const uint32_t length = options.depth + std::max(options.prompt, 1u) + options.generate;
    const size_t pages = (length + spec.page_tokens - 1) / spec.page_tokens;
    for (const KvGroup& group : spec.groups) {
      kernels::Buffer& memory = memory_.emplace_back(pages * group.page_bytes);
      auto& list = pages_.emplace_back();
      for (size_t i = 0; i < pages; ++i) list.push_back(memory.data() + i * group.page_bytes);
    }
    kv_bytes_per_token_ = 0;
    for (const KvGroup& group : spec.groups) kv_bytes_per_token_ += group.page_bytes / spec.page_tokens;
    // Any tokens do; these are the same for every run of the same shape.
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < options.depth + std::max(options.prompt, 1u); ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      tokens_.push_back(static_cast<TokenId>(state % model.vocabulary_size()));
    }
    logits_.resize(model.vocabulary_size());
  }

  void fill_depth(const std::function<void(const std::string&)>& progress) {
    for (uint32_t at = 0; at < options_.depth; at += options_.chunk) {
      if (progress) progress(fmt::format("filling the cache: {} of {} tokens", at, options_.depth));
      forward(at, std::min(options_.depth, at + options_.chunk), 0, layers_);
    }
  }

  // Prefill tokens a second; empty when there is no prompt.
  std::optional<Estimate> prefill() {
    if (options_.prompt == 0) return std::nullopt;
    const uint32_t begin = options_.depth, end = begin + options_.prompt;
    struct Slice {
      uint32_t from, to, layer_begin, layer_end;
    };
    std::vector<Slice> slices;
    for (uint32_t at = begin; at < end; at += options_.chunk) {
      const uint32_t to = std::min(end, at + options_.chunk);
      const Nanos start = now();
      forward(at, to, 0, layers_);  // warm-up, and how long a layer takes
      const double layer = to_seconds(now() - start) / layers_;
      const auto group = std::clamp<uint32_t>(static_cast<uint32_t>(kSliceSeconds / layer), 1, layers_);
      for (uint32_t l = 0; l < layers_; l += group)
        slices.push_back({at, to, l, std::min(layers_, l + group)});
    }
    std::vector<std::vector<Window>> windows(slices.size());
    const Nanos stop = now() + static_cast<Nanos>(options_.seconds * kSecond);
    for (int pass = 0; pass < kLeastPasses || now() < stop; ++pass)
      for (size_t i = 0; i < slices.size(); ++i) {
        const Slice& s = slices[i];
        const bool last = s.to == end && s.layer_end == layers_;
        windows[i].push_back(timer_.time([&] {
          forward(s.from, s.to, s.layer_begin, s.layer_end);
          if (last) next_ = greedy(s.to - s.from - 1);  // the first token's logits belong to the prompt
        }));
      }
    return timer_.estimate_sum(windows);
  }

  // Seconds a token; empty when nothing is generated.
  std::optional<Estimate> decode() {
    if (options_.generate == 0) return std::nullopt;
    if (options_.prompt == 0) next_ = tokens_.back();
    const TokenId first = next_;
    const uint32_t start = options_.depth + options_.prompt;
    std::vector<Window> windows;
    uint32_t steps_a_window = 1;
    const Nanos stop = now() + static_cast<Nanos>(options_.seconds * kSecond);
    for (int pass = 0; pass < kLeastPasses || now() < stop; ++pass) {
      next_ = first;
      hash_ = 0;
      for (uint32_t done = 0; done < options_.generate;) {
        const uint32_t steps = std::min(steps_a_window, options_.generate - done);
        Window w = timer_.time([&] {
          for (uint32_t i = 0; i < steps; ++i) step(start + done + i);
        });
        done += steps;
        w.seconds /= steps;
        if (pass == 0)  // learns the step's time
          steps_a_window = std::clamp<uint32_t>(static_cast<uint32_t>(kSliceSeconds / w.seconds), 1, 32);
        else if (steps * 2 > steps_a_window)
          windows.push_back(w);
      }
      hash_ = hash_bytes(logits_.data(), logits_.size() * sizeof(float), hash_);
      if (pass == 0) first_hash_ = hash_;
      stable_ = stable_ && hash_ == first_hash_;
    }
    return windows.empty() ? std::nullopt : std::optional(timer_.estimate(windows));
  }

  size_t kv_bytes_per_token() const { return kv_bytes_per_token_; }
  bool stable() const { return stable_; }
  // Of what was computed last: greedy tokens and the last logits.
  std::string output_hash() {
    if (options_.generate == 0) hash_ = hash_bytes(logits_.data(), logits_.size() * sizeof(float));
    return fmt::format("{:016x}", hash_);
  }

 private:
  void forward(uint32_t begin, uint32_t end, uint32_t layer_begin, uint32_t layer_end) {
    run(TokenSpan(tokens_).subspan(begin, end - begin), begin, layer_begin, layer_end);
  }
  void run(TokenSpan tokens, uint32_t position, uint32_t layer_begin, uint32_t layer_end) {
    SequenceRows rows{.tokens = tokens, .position = position, .pages = {}};
    for (size_t g = 0; g < pages_.size(); ++g) rows.pages[g] = pages_[g];
    model_.forward({.sequences = {&rows, 1}, .layer_begin = layer_begin, .layer_end = layer_end},
                   activations_);
  }
  TokenId greedy(uint32_t row) {
    model_.logits(activations_, {&row, 1}, logits_.data());
    return static_cast<TokenId>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin());
  }
  void step(uint32_t position) {
    run({&next_, 1}, position, 0, layers_);
    next_ = greedy(0);
    hash_ = hash_bytes(&next_, sizeof next_, hash_);
  }

  const ModelBenchOptions& options_;
  Model& model_;
  TaskPool& pool_;
  WindowTimer& timer_;
  const uint32_t layers_;
  std::vector<kernels::Buffer> memory_;
  std::vector<std::vector<std::byte*>> pages_;
  size_t kv_bytes_per_token_ = 0;
  std::vector<TokenId> tokens_;
  std::vector<float> logits_;
  Activations activations_;
  TokenId next_ = 0;
  uint64_t hash_ = 0, first_hash_ = 0;
  bool stable_ = true;
};

BenchRow fact(std::string name, double value, std::string unit) {
  BenchRow row;
  row.name = std::move(name);
  row.value = value;
  row.unit = std::move(unit);
  return row;
}

}  // namespace

Result<std::vector<BenchRow>> bench_model(const ModelBenchOptions& options,
                                          const std::function<void(const std::string&)>& progress) {
  const uint64_t length = uint64_t{options.depth} + options.prompt + options.generate + 1;
  if (length > (uint64_t{1} << 28))
    return invalid("depth, prompt and generated tokens are {} together: too many", length);
  if (options.prompt == 0 && options.generate == 0)
    return invalid("nothing to measure: no prompt, nothing to generate");
  if (options.chunk == 0) return invalid("a chunk needs at least one row");
  const kernels::Table* table = TRY(kernels::select(options.kernels));
  TaskPool pool(options.threads > 0 ? options.threads : usable_cpus());
  if (progress) progress("loading " + options.file.string());
  LoadOptions load;
  load.context = static_cast<uint32_t>(length);
  load.past_trained_context = true;
  const auto model = TRY(load_model(options.file, pool, *table, load));

  WindowTimer timer(pool);
  Bench bench(options, *model, pool, timer);
  bench.fill_depth(progress);
  if (progress) progress("measuring");
  const auto prefill = bench.prefill();
  const auto decode = bench.decode();
  const TokenCost cost = model->token_cost();

  std::vector<BenchRow> rows;
  const auto at_depth = [&](const char* what, uint32_t n) {
    return options.depth ? fmt::format("{} {} at depth {}", what, n, options.depth)
                         : fmt::format("{} {}", what, n);
  };
  const double keys = options.depth + (options.prompt + 1) / 2.0;  // a prompt token's, on average
  const double operations =
      2.0 * (static_cast<double>(cost.layer_macs) + static_cast<double>(cost.attention_macs) * keys);
  if (prefill) {
    BenchRow row = rate_row(at_depth("prefill", options.prompt), options.prompt, 1, "tokens/s", *prefill);
    if (cost.layer_macs > 0) {
      row.roof_share = row.value * operations / timer.best_rate();
      row.roof = fmt::format("int8 dot, {:.2f} TOPS", timer.best_rate() / 1e12);
    }
    row.output_hash = bench.output_hash();
    rows.push_back(std::move(row));
  }
  const double context = options.depth + options.prompt + options.generate / 2.0;
  const double bytes =
      static_cast<double>(cost.weight_bytes) + static_cast<double>(bench.kv_bytes_per_token()) * context;
  if (decode) {
    BenchRow row = rate_row(at_depth("decode", options.generate), 1, 1, "tokens/s", *decode);
    if (cost.weight_bytes > 0) {
      // The limit is reading a working set of this size, wherever it lives.
      const auto working_set = static_cast<size_t>(bytes);
      const BenchRow read = measure_read(pool, timer, "", working_set, 0.5);
      row.roof_share = row.value * bytes / 1e9 / read.value;
      row.roof = fmt::format("reading {} MiB from {}, {:.1f} GB/s", working_set >> 20,
                             cache_level(working_set, pool.threads()), read.value);
    }
    row.output_hash = bench.output_hash();
    rows.push_back(std::move(row));
  }
  if (cost.layer_macs > 0) {
    if (prefill) rows.push_back(fact("operations per prompt token", operations / 1e9, "Gop"));
    if (decode) {
      rows.push_back(fact("operations per decoded token",
                          2.0 *
                              (static_cast<double>(cost.layer_macs + cost.head_macs) +
                               static_cast<double>(cost.attention_macs) * context) /
                              1e9,
                          "Gop"));
      rows.push_back(fact("bytes per decoded token", bytes / 1e6, "MB"));
    }
  }
  if (!bench.stable())
    return fail(ErrorKind::kInternal, "the same tokens gave different outputs: results are void");
  return rows;
}

}  // namespace reprise
