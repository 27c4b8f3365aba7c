// Sends an answer to its client: piece by piece as server-sent events, or whole at the end. The session calls
// it in the order of the generation; a false return means that the client is gone.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/answer_format.h"
#include "base/clock.h"
#include "base/result.h"
#include "core/stats.h"
#include "http/exchange.h"

namespace reprise {

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  // Takes the piece. `so_far` is the request's usage with it. Not called after `ended` of that choice.
  virtual http::asio::awaitable<bool> add(size_t choice, Piece& piece, const Usage& so_far) = 0;
  virtual http::asio::awaitable<bool> ended(size_t choice, const Choice& ended) = 0;
  // After every choice has ended.
  virtual http::asio::awaitable<bool> finish(const Usage& usage, const ChoiceTimes& longest) = 0;
  // Instead of finish: an error status, or an error event when the stream has begun.
  virtual http::asio::awaitable<void> fail(const Error& error, const Stats& stats) = 0;
  // How long the client may be left without a sign; nullopt: any time. idle() gives that sign.
  virtual std::optional<Nanos> patience() const = 0;
  virtual http::asio::awaitable<bool> idle() = 0;
};

struct StreamOptions {
  bool include_usage = false;
  bool continuous_usage = false;
  Nanos keep_alive = 10 * kSecond;
};

// The exchange and the format must outlive the writer. The stream begins with the first piece, or with the
// first sign of life: until then a failure can still be an HTTP status, which clients retry.
std::unique_ptr<AnswerWriter> stream_writer(http::Exchange& exchange, const AnswerFormat& format,
                                            AnswerHead head, size_t choices, StreamOptions options);
// Of each prompt's choices those are returned whose tokens were the likeliest on average (best_of), best
// first where not all are. Tokens must then carry their log probabilities.
struct Selection {
  size_t per_prompt = 1;
  size_t returned = 1;
};
std::unique_ptr<AnswerWriter> whole_writer(http::Exchange& exchange, const AnswerFormat& format,
                                           AnswerHead head, size_t choices, Selection selection);

}  // namespace reprise
