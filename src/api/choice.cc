#include "api/choice.h"

#include <iterator>
#include <limits>

#include "api/token_text.h"
#include "base/check.h"

namespace reprise {

void Piece::append(Piece&& more) {
  text += more.text;
  std::move(more.tokens.begin(), more.tokens.end(), std::back_inserter(tokens));
  offsets.insert(offsets.end(), more.offsets.begin(), more.offsets.end());
  if (prompt.empty()) prompt_at = more.prompt_at;
  std::move(more.prompt.begin(), more.prompt.end(), std::back_inserter(prompt));
}

Choice::Choice(const Tokenizer& tokenizer, ChoiceOptions options, Nanos submitted)
    : detokenizer_(tokenizer),
      matcher_(options.stop),
      has_stops_(!options.stop.empty()),
      include_stop_(options.include_stop),
      min_tokens_(options.min_tokens),
      submitted_(submitted) {}

void Choice::start(const Started& event, Nanos now) {
  cached_tokens_ = event.cached_tokens;
  started_ = now;
}

Piece Choice::add(PromptTokens event) {
  Piece piece;
  piece.prompt_at = prompt_scored_;
  prompt_scored_ += event.tokens.size();
  piece.prompt = std::move(event.tokens);
  return piece;
}

Piece Choice::add(Tokens event, Nanos now) {
  Piece piece;
  if (started_ == 0) started_ = now;
  last_gap_ = first_ == 0 ? std::nullopt : std::optional(now - latest_);
  if (first_ == 0) first_ = now;
  latest_ = now;
  for (SampledToken& token : event.tokens) {
    if (done()) break;
    piece.offsets.push_back(characters_);
    ++output_tokens_;
    logprob_sum_ += token.logprob;
    ++logprobs_;
    std::string text = detokenizer_.push(token.token);
    piece.tokens.push_back(std::move(token));
    characters_ += static_cast<uint32_t>(count_characters(text));
    take_text(std::move(text), piece);
    if (stop_string_) end("stop", now);
  }
  return piece;
}

Piece Choice::finish(const Finished& event, Nanos now) {
  CHECK(!done(), "an ended choice cannot end again");
  Piece piece;
  take_text(detokenizer_.finish(), piece);
  if (!stop_string_) piece.text += matcher_.finish();
  end(stop_string_ || event.reason == FinishReason::kStop ? "stop" : "length", now);
  output_tokens_ = event.output_tokens;
  cached_tokens_ = event.cached_tokens;
  times_ = {event.queued, event.prefill, event.decode};
  return piece;
}

double Choice::mean_logprob() const {
  return logprobs_ == 0 ? -std::numeric_limits<double>::infinity() : logprob_sum_ / logprobs_;
}

// Tokens before min_tokens go past the matcher: no stop string may end the text there, nor begin there.
void Choice::take_text(std::string text, Piece& piece) {
  if (!has_stops_ || output_tokens_ <= min_tokens_) {
    piece.text += text;
    return;
  }
  StopMatcher::Match match = matcher_.push(text);
  piece.text += match.text;
  if (!match.stopped) return;
  if (include_stop_) piece.text += match.stop;
  stop_string_ = std::move(match.stop);
}

void Choice::end(std::string reason, Nanos now) {
  finish_reason_ = std::move(reason);
  times_ = {started_ - submitted_, first_ - started_, now - first_};
}

}  // namespace reprise
