// One accepted request from submit to its last byte: the coroutine in which everything of a request comes
// together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/answer_format.h"
#include "api/loaded_model.h"
#include "core/generation.h"
#include "http/exchange.h"

namespace reprise {

struct SessionJob {
  std::vector<Generation> generations;  // one a choice: prompt 0's n choices, then prompt 1's, ...
  size_t choices_per_prompt = 1;
  size_t returned_per_prompt = 1;  // the likeliest of them; fewer only in whole answers
  ChoiceOptions choice;            // the same for all
  std::unique_ptr<AnswerFormat> format;
  std::string model;  // as the answer names it
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;
  Nanos arrived = 0;
  Nanos keep_alive = 10 * kSecond;
};

// Answers the exchange, whatever happens. Whenever the coroutine ends, nothing of the request runs on in the
// engine; when the client goes, its generations are cancelled at once.
http::asio::awaitable<void> run_session(http::Exchange& exchange, const LoadedModel& model, SessionJob job);

}  // namespace reprise
