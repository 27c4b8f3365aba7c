// A tokenizer and an engine for tests: one token a byte, and answers that the test writes. Not linked into
// the program.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/backend.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise::testing {

// Ids 0-255 are the bytes, then two control tokens, then the given pieces. Of those encode() produces only
// texts in angle brackets, which stand for further control tokens.
class FakeTokenizer final : public Tokenizer {
 public:
  static constexpr TokenId kStart = 256;  // <|im_start|>
  static constexpr TokenId kEnd = 257;    // <|im_end|>
  static constexpr TokenId kFirstPiece = 258;

  explicit FakeTokenizer(const std::vector<std::string>& pieces = {}) {
    for (int byte = 0; byte < 256; ++byte) texts_.emplace_back(1, static_cast<char>(byte));
    texts_.emplace_back("<|im_start|>");
    texts_.emplace_back("<|im_end|>");
    texts_.insert(texts_.end(), pieces.begin(), pieces.end());
  }
  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const override {
    std::vector<TokenId> tokens;
    if (options.add_bos_eos) tokens.push_back(kStart);
    const auto allowed = [&](TextSpan found) {
      if (!options.control_spans) return options.parse_special;
      for (const TextSpan& span : *options.control_spans) {
        if (span.begin <= found.begin && found.end <= span.end) return true;
      }
      return false;
    };
    for (size_t at = 0; at < text.size();) {
      TokenId token = static_cast<uint8_t>(text[at]);
      for (auto control = kStart; control < static_cast<TokenId>(texts_.size()); ++control) {
        if (!is_hidden(control)) continue;
        const std::string& spelled = texts_[static_cast<size_t>(control)];
        if (text.substr(at).starts_with(spelled) && allowed({at, at + spelled.size()})) token = control;
      }
      tokens.push_back(token);
      at += texts_[static_cast<size_t>(token)].size();
    }
    return tokens;
  }
  std::string_view bytes(TokenId token) const override { return texts_[token]; }
  bool is_hidden(TokenId token) const override {
    const std::string& text = texts_[static_cast<size_t>(token)];
    return token >= kStart && text.starts_with('<') && text.ends_with('>');
  }
  size_t size() const override { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
};

inline Tokens one_token(TokenId id, float logprob = -0.5f, std::vector<TokenLogprob> top = {}) {
  return Tokens{{SampledToken{id, logprob, std::move(top)}}};
}

// Started, one Tokens event for each id, Finished with the counts that belong to them.
inline std::vector<Event> script_of(const std::vector<TokenId>& ids,
                                    FinishReason reason = FinishReason::kStop, uint32_t cached = 0) {
  std::vector<Event> events;
  events.push_back(Started{cached});
  for (TokenId id : ids) events.push_back(one_token(id));
  Finished finished;
  finished.reason = reason;
  finished.cached_tokens = cached;
  finished.output_tokens = static_cast<uint32_t>(ids.size()) + (reason == FinishReason::kStop ? 1 : 0);
  finished.queued = 2 * kMillisecond;
  finished.prefill = 30 * kMillisecond;
  finished.decode = 400 * kMillisecond;
  events.push_back(finished);
  return events;
}

// Records what is submitted and cancelled. By default it answers at once with what `answer` returns; with no
// answer set the test pushes events itself. Thread-safe.
class FakeBackend final : public Backend {
 public:
  using Answer = std::function<std::vector<Event>(const Generation&, size_t number)>;

  void answer_with(Answer answer) {
    std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  void refuse_with(std::optional<Error> error, size_t after = 0) {
    std::lock_guard lock(mutex_);
    refusal_ = std::move(error);
    refuse_after_ = after;
  }
  void set_stats(const Stats& stats) {
    std::lock_guard lock(mutex_);
    stats_ = stats;
  }

  Result<Stream> submit(Generation generation) override {
    std::lock_guard lock(mutex_);
    if (refusal_ && submitted_.size() >= refuse_after_) return std::unexpected(*refusal_);
    RequestId id = submitted_.size() + 1;
    auto events = std::make_shared<EventQueue>();
    submitted_.push_back(generation);
    queues_.push_back(events);
    finished_.push_back(false);
    if (answer_) {
      for (Event& event : answer_(generation, id - 1)) push_locked(id, std::move(event));
    }
    changed_.notify_all();
    return Stream{id, events};
  }
  void cancel(RequestId id) override {
    std::lock_guard lock(mutex_);
    cancelled_.push_back(id);
    if (!finished_[id - 1]) {
      Finished finished;
      finished.reason = FinishReason::kCancelled;
      push_locked(id, finished);
    }
    changed_.notify_all();
  }
  Stats stats() const override {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void push(RequestId id, Event event) {
    std::lock_guard lock(mutex_);
    push_locked(id, std::move(event));
  }
  std::vector<Generation> submitted() const {
    std::lock_guard lock(mutex_);
    return submitted_;
  }
  bool was_cancelled(RequestId id) const {
    std::lock_guard lock(mutex_);
    return std::count(cancelled_.begin(), cancelled_.end(), id) > 0;
  }
  // Everything submitted has ended, by its own Finished or by cancel().
  bool all_ended() const {
    std::lock_guard lock(mutex_);
    return std::count(finished_.begin(), finished_.end(), false) == 0;
  }
  // Waits until the condition holds; false after 20 s.
  bool wait_until(const std::function<bool(const FakeBackend&)>& condition) const {
    for (int i = 0; i < 20'000; ++i) {
      if (condition(*this)) return true;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(1));
    }
    return false;
  }
  bool wait_submitted(size_t count) const {
    return wait_until([count](const FakeBackend& backend) { return backend.submitted().size() >= count; });
  }

 private:
  void push_locked(RequestId id, Event event) {
    if (std::holds_alternative<Finished>(event)) finished_[id - 1] = true;
    queues_[id - 1]->push(std::move(event));
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Answer answer_;
  std::optional<Error> refusal_;
  size_t refuse_after_ = 0;
  Stats stats_;
  std::vector<Generation> submitted_;
  std::vector<std::shared_ptr<EventQueue>> queues_;
  std::vector<bool> finished_;
  std::vector<RequestId> cancelled_;
};

}  // namespace reprise::testing
