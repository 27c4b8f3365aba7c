// Design: a prefill pass is cut into slices (some layers of one chunk of rows) of at most about 40 ms, each a
// window of its own series; the time of the prefill is the sum of the slices' medians, so one slow window
// costs nothing but itself. Decode windows are runs of a few steps. Passes of both kinds alternate until each
// kind has had its time, so that they see the same machine. Every pass computes the same: it writes the KV of
// its positions anew, and its output is hashed outside the windows.
#include "probe/model_passes.h"

#include <algorithm>

#include "base/hash.h"

namespace reprise {

namespace {
constexpr double kSliceSeconds = 0.04;
constexpr int kLeastPasses = static_cast<int>(kFewWindows);  // a slice has one window a pass
constexpr uint32_t kMostSteps = 32;                          // a window
}  // namespace

std::vector<TokenId> bench_tokens(size_t count, uint32_t vocabulary) {
  std::vector<TokenId> tokens(count);
  uint64_t state = 88172645463325252u;  // xorshift64 (Marsaglia 2003)
  for (TokenId& token : tokens) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    token = static_cast<TokenId>(state % vocabulary);
  }
  return tokens;
}

ModelPasses::ModelPasses(const ModelBenchOptions& options, Model& model, WindowTimer& timer,
                         const std::function<void(const std::string&)>& progress)
    : options_(options),
      model_(model),
      timer_(timer),
      layers_(model.layers()),
      // Without a prompt the first decode step is fed one more token.
      tokens_(bench_tokens(options.depth + std::max(options.prompt, 1u), model.vocabulary_size())),
      logits_(model.vocabulary_size()),
      first_decoded_(tokens_.back()) {
  const KvSpec spec = model.kv_spec();
  const size_t length = tokens_.size() + options.generate;
  const size_t pages = (length + spec.page_tokens - 1) / spec.page_tokens;
  for (const KvGroup& group : spec.groups) {
    kernels::Buffer& memory = memory_.emplace_back(pages * group.page_bytes);
    auto& list = pages_.emplace_back();
    for (size_t i = 0; i < pages; ++i) list.push_back(memory.data() + i * group.page_bytes);
  }
  for (uint32_t at = 0, rows; at < options.depth; at += rows) {
    if (progress) progress(fmt::format("filling the cache: {} of {} tokens", at, options.depth));
    rows = std::min(options.depth - at, options.chunk);
    forward(at, rows, 0, layers_);
  }
}

void ModelPasses::measure() {
  if (options_.prompt > 0) cut_slices();
  const auto wanted = static_cast<Nanos>(options_.seconds * kSecond);
  Nanos prefill = 0, decode = 0;
  for (int pass = 0;; ++pass) {
    const bool more_prefill = options_.prompt > 0 && (pass < kLeastPasses || prefill < wanted);
    const bool more_decode = options_.generate > 0 && (pass <= kLeastPasses || decode < wanted);
    if (!more_prefill && !more_decode) return;
    const Nanos start = now();
    if (more_prefill) prefill_pass();
    const Nanos middle = now();
    if (more_decode) decode_pass();
    prefill += middle - start;
    decode += now() - middle;
  }
}

// A first pass, for the caches and to learn how long a layer takes.
void ModelPasses::cut_slices() {
  const uint32_t end = options_.depth + options_.prompt;
  for (uint32_t at = options_.depth, rows; at < end; at += rows) {
    rows = std::min(end - at, options_.chunk);
    const Nanos start = now();
    forward(at, rows, 0, layers_);
    const double layer = to_seconds(now() - start) / layers_;
    const auto group =
        static_cast<uint32_t>(std::clamp(kSliceSeconds / layer, 1.0, static_cast<double>(layers_)));
    for (uint32_t l = 0; l < layers_; l += group)
      slices_.push_back({at, rows, l, std::min(layers_, l + group)});
  }
  prefill_windows_.resize(slices_.size());
}

void ModelPasses::prefill_pass() {
  for (size_t i = 0; i < slices_.size(); ++i) {
    const Slice& s = slices_[i];
    prefill_windows_[i].push_back(timer_.time([&] {
      forward(s.begin, s.rows, s.layer_begin, s.layer_end);
      // The first token's logits belong to the prompt.
      if (i + 1 == slices_.size()) first_decoded_ = greedy(s.rows - 1);
    }));
  }
  check(prefill_hash_, hash_bytes(logits_.data(), logits_.size() * sizeof(float)));
}

void ModelPasses::decode_pass() {
  const bool first_pass = !decode_hash_;
  const uint32_t start = options_.depth + options_.prompt;
  TokenId next = first_decoded_;
  uint64_t hash = 0;
  for (uint32_t done = 0; done < options_.generate;) {
    const uint32_t steps = std::min(steps_a_window_, options_.generate - done);
    Window window = timer_.time([&] {
      for (uint32_t i = 0; i < steps; ++i) {
        run({&next, 1}, start + done + i, 0, layers_);
        next = greedy(0);
        hash = hash_bytes(&next, sizeof next, hash);
      }
    });
    done += steps;
    window.seconds /= steps;
    if (first_pass)  // learns how long a step takes
      steps_a_window_ = static_cast<uint32_t>(std::clamp(
          kSliceSeconds / window.seconds, 1.0, static_cast<double>(std::min(kMostSteps, options_.generate))));
    else if (steps * 2 > steps_a_window_)  // a short rest of a pass would count as much as a whole window
      decode_windows_.push_back(window);
  }
  check(decode_hash_, hash_bytes(logits_.data(), logits_.size() * sizeof(float), hash));
}

std::optional<Estimate> ModelPasses::prefill() const {
  if (prefill_windows_.empty()) return std::nullopt;
  return timer_.estimate_sum(prefill_windows_);
}

std::optional<Estimate> ModelPasses::decode() const {
  if (decode_windows_.empty()) return std::nullopt;
  return timer_.estimate(decode_windows_);
}

std::string ModelPasses::show(const std::optional<uint64_t>& hash) {
  return hash ? fmt::format("{:016x}", *hash) : "";
}

void ModelPasses::forward(uint32_t begin, uint32_t rows, uint32_t layer_begin, uint32_t layer_end) {
  run(TokenSpan(tokens_).subspan(begin, rows), begin, layer_begin, layer_end);
}

void ModelPasses::run(TokenSpan tokens, uint32_t position, uint32_t layer_begin, uint32_t layer_end) {
  SequenceRows rows{.tokens = tokens, .position = position, .pages = {}};
  for (size_t g = 0; g < pages_.size(); ++g) rows.pages[g] = pages_[g];
  model_.forward({.sequences = {&rows, 1}, .layer_begin = layer_begin, .layer_end = layer_end}, activations_);
}

TokenId ModelPasses::greedy(uint32_t row) {
  model_.logits(activations_, {&row, 1}, logits_.data());
  return static_cast<TokenId>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin());
}

void ModelPasses::check(std::optional<uint64_t>& first, uint64_t hash) {
  if (!first) first = hash;
  stable_ = stable_ && *first == hash;
}

}  // namespace reprise
