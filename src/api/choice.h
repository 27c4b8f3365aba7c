// One generation as its client sees it: tokens become text, stop strings end it, times are taken. No I/O; the
// session feeds it the engine's events in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/event.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

namespace reprise {

struct ChoiceOptions {
  std::vector<std::string> stop;
  bool include_stop = false;  // the stop string that ended it is part of the text
  uint32_t min_tokens = 0;    // stop strings within these many tokens do not count
};

// What one event added.
struct Piece {
  std::string text;  // whole characters, none of which can belong to a stop string any more
  std::vector<SampledToken> tokens;
  std::vector<uint32_t> offsets;  // of each token: characters of the output before it
  // Scored tokens of the prompt, of which prompt[0] is its token number `prompt_at`.
  std::vector<SampledToken> prompt;
  size_t prompt_at = 1;

  bool has_tokens() const { return !tokens.empty() || !prompt.empty(); }

  void append(Piece&& more);
};

struct ChoiceTimes {
  Nanos queued = 0;   // submit -> first scheduled
  Nanos prefill = 0;  // first scheduled -> first token
  Nanos decode = 0;   // first token -> end
};

class Choice {
 public:
  Choice(const Tokenizer& tokenizer, ChoiceOptions options, Nanos submitted);

  void start(const Started& event, Nanos now);
  Piece add(PromptTokens event);
  // After a stop string is complete the rest of the tokens is dropped and done() is true: the engine should
  // be told.
  Piece add(Tokens event, Nanos now);
  // The text held back so far. Not to be called after done().
  Piece finish(const Finished& event, Nanos now);

  bool done() const { return !finish_reason_.empty(); }
  const std::string& finish_reason() const {
    return finish_reason_;
  }  // "stop", "length"; empty while it runs
  const std::optional<std::string>& stop_string() const { return stop_string_; }  // the one that ended it
  uint32_t cached_tokens() const { return cached_tokens_; }
  uint32_t output_tokens() const {
    return output_tokens_;
  }  // as usage counts: with a stop token, without what came after a stop string
  // Of all its tokens, with text or without; less than any number where there are none. Meaningful when
  // logprobs were asked for.
  double mean_logprob() const;
  const ChoiceTimes& times() const { return times_; }
  // Since the token before, for the latency metric; nullopt for the first.
  std::optional<Nanos> last_gap() const { return last_gap_; }

 private:
  void take_text(std::string text, Piece& piece);
  void end(std::string reason, Nanos now);

  Detokenizer detokenizer_;
  StopMatcher matcher_;
  bool has_stops_;
  bool include_stop_;
  uint32_t min_tokens_;
  Nanos submitted_;
  Nanos started_ = 0, first_ = 0, latest_ = 0;  // 0: not yet
  std::optional<Nanos> last_gap_;
  ChoiceTimes times_;
  uint32_t cached_tokens_ = 0;
  uint32_t output_tokens_ = 0;
  uint32_t characters_ = 0;
  size_t prompt_scored_ = 1;  // the first token has no log-probability
  double logprob_sum_ = 0;
  uint32_t logprobs_ = 0;  // summed
  std::string finish_reason_;
  std::optional<std::string> stop_string_;
};

}  // namespace reprise
