#include "api/session.h"

#include <algorithm>
#include <ctime>
#include <random>

#include "api/answer_writer.h"
#include "api/error_policy.h"
#include "api/running_choices.h"
#include "base/log.h"

namespace reprise {
using http::asio::awaitable;
namespace {

std::string random_id(std::string_view prefix) {
  thread_local std::mt19937_64 generator{std::random_device{}()};  // unique, not secret
  return fmt::format("{}{:016x}{:08x}", prefix, generator(), static_cast<uint32_t>(generator()));
}

// What of a request is counted and told, kept while it runs.
class Account {
 public:
  Account(const LoadedModel& model, const SessionJob& job)
      : model_(model),
        arrived_(job.arrived),
        choices_per_prompt_(job.choices_per_prompt),
        counted_(job.generations.size()) {
    prompt_sizes_.reserve(job.generations.size());
    for (const Generation& generation : job.generations) prompt_sizes_.push_back(generation.prompt.size());
    for (size_t i = 0; i < prompt_sizes_.size(); i += choices_per_prompt_)
      usage_.prompt_tokens += prompt_sizes_[i];
  }

  // A prompt counts once, and so does what of it was cached when its first choice started.
  void started(size_t choice, uint32_t cached) {
    if (choice % choices_per_prompt_ == 0)
      usage_.cached_tokens += std::min<uint64_t>(cached, prompt_sizes_[choice]);
  }
  void added(size_t index, const Choice& choice, size_t tokens) {
    count(index, tokens);
    if (const std::optional<Nanos> gap = choice.last_gap()) {
      model_.metrics.token_gap(*gap);
    } else {
      model_.metrics.first_token(now() - arrived_);
    }
  }
  void ended(size_t index, const Choice& choice) {
    count(index, choice.output_tokens() - std::min(counted_[index], choice.output_tokens()));  // a stop token
    const ChoiceTimes& times = choice.times();
    longest_.queued = std::max(longest_.queued, times.queued);
    longest_.prefill = std::max(longest_.prefill, times.prefill);
    longest_.decode = std::max(longest_.decode, times.decode);
    model_.metrics.finished({choice.finish_reason(), now() - arrived_, times.queued, times.prefill,
                             times.decode, prompt_sizes_[index], choice.cached_tokens(),
                             choice.output_tokens()});
  }
  void abandoned(size_t choices, std::string_view reason) {
    for (size_t i = 0; i < choices; ++i) model_.metrics.finished({.finish_reason = reason});
  }

  const Usage& usage() const { return usage_; }
  const ChoiceTimes& longest() const { return longest_; }
  void log(std::string_view id, std::string_view how) const {
    log::debug(
        "{} {}: {} prompt tokens ({} cached), {} out; queue {:.1f} ms, prefill {:.1f} ms, decode {:.1f} ms, "
        "total {:.1f} ms",
        id, how, usage_.prompt_tokens, usage_.cached_tokens, usage_.completion_tokens, to_ms(longest_.queued),
        to_ms(longest_.prefill), to_ms(longest_.decode), to_ms(now() - arrived_));
  }

 private:
  void count(size_t index, size_t tokens) {
    counted_[index] += static_cast<uint32_t>(tokens);
    usage_.completion_tokens += tokens;
    model_.metrics.tokens(tokens);
  }

  const LoadedModel& model_;
  Nanos arrived_;
  size_t choices_per_prompt_;
  std::vector<size_t> prompt_sizes_;
  std::vector<uint32_t> counted_;  // output tokens of each choice
  Usage usage_;
  ChoiceTimes longest_;
};

Error failure_of(const Finished& finished) {
  if (finished.reason == FinishReason::kError) return finished.error;
  return Error{ErrorKind::kUnavailable,
               "The request was cancelled: the server is stopping, or the client read its stream too slowly.",
               {}};
}

bool failed(const Finished& finished) {
  return finished.reason == FinishReason::kError || finished.reason == FinishReason::kCancelled;
}

}  // namespace

awaitable<void> run_session(http::Exchange& exchange, const LoadedModel& model, SessionJob job) {
  const size_t count = job.generations.size();
  Account account(model, job);
  AnswerHead head{random_id(job.format->id_prefix()), std::time(nullptr), job.model};
  std::unique_ptr<AnswerWriter> writer =
      job.stream ? stream_writer(exchange, *job.format, head, count,
                                 {job.include_usage, job.continuous_usage, job.keep_alive})
                 : whole_writer(exchange, *job.format, head, count,
                                {job.choices_per_prompt, job.returned_per_prompt});

  Nanos submitted = now();
  Result<RunningChoices> running = RunningChoices::submit(model.backend, std::move(job.generations));
  if (!running) {
    model.metrics.rejected(running.error().kind);
    Stats stats = model.backend.stats();
    exchange.respond(error_response(running.error(), &stats));
    co_return;
  }
  exchange.on_gone(running->on_gone());

  std::vector<Choice> choices;
  choices.reserve(count);
  for (size_t i = 0; i < count; ++i) choices.emplace_back(model.tokenizer(), job.choice, submitted);

  bool client_there = true;
  size_t unfinished = count;
  while (unfinished > 0 && client_there) {
    std::optional<RunningChoices::Next> next = co_await running->next(writer->patience());
    client_there = !exchange.gone();
    if (!client_there) break;
    if (!next) {
      client_there = co_await writer->idle();
      continue;
    }

    Choice& choice = choices[next->choice];
    Piece piece;
    if (auto* started = std::get_if<Started>(&next->event)) {
      choice.start(*started, now());
      account.started(next->choice, started->cached_tokens);
    } else if (auto* prompt = std::get_if<PromptTokens>(&next->event)) {
      // The prompt of other choices is the same, and is scored with the first one alone.
      for (size_t other = next->choice + 1; other < next->choice + job.choices_per_prompt; ++other) {
        Piece copy = choices[other].add(*prompt);
        co_await writer->add(other, copy, account.usage());
      }
      piece = choice.add(std::move(*prompt));
    } else if (auto* tokens = std::get_if<Tokens>(&next->event)) {
      piece = choice.add(std::move(*tokens), now());
      account.added(next->choice, choice, piece.tokens.size());
      if (choice.done()) running->close(next->choice);  // a stop string: the engine does not know
    } else if (auto* finished = std::get_if<Finished>(&next->event)) {
      if (failed(*finished)) {
        Error error = failure_of(*finished);
        account.abandoned(unfinished, "error");
        account.log(head.id, error.message);
        if (finished->reason == FinishReason::kError) log::warn("{} failed: {}", head.id, error.message);
        Stats stats = model.backend.stats();
        co_await writer->fail(error, stats);
        co_return;
      }
      piece = choice.finish(*finished, now());
    }

    if (!piece.text.empty() || (job.format->shows_tokens() && piece.has_tokens())) {
      client_there = co_await writer->add(next->choice, piece, account.usage());
    }
    if (choice.done()) {
      account.ended(next->choice, choice);
      --unfinished;
      if (client_there) client_there = co_await writer->ended(next->choice, choice);
    }
  }
  if (client_there) client_there = co_await writer->finish(account.usage(), account.longest());
  account.abandoned(unfinished, "abort");
  account.log(head.id, client_there ? "answered" : "abandoned by its client");
}

}  // namespace reprise
