// How one API words an answer: the elements of "choices", whole and streamed. Pure; one object a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "api/choice.h"
#include "api/token_text.h"

namespace reprise {

// What every chunk of a request's answer shares.
struct AnswerHead {
  std::string id;
  int64_t created = 0;  // unix seconds
  std::string model;    // echoed
};

struct AnswerOptions {
  bool logprobs = false;
  bool token_ids = false;
  TokenNaming naming;
};

class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  virtual bool shows_tokens() const = 0;  // pieces are worth showing for their tokens, even without text
  virtual std::string_view id_prefix() const = 0;      // "chatcmpl-"
  virtual std::string_view whole_object() const = 0;   // the "object" of a whole answer
  virtual std::string_view stream_object() const = 0;  // and of a chunk

  // Elements of "choices". opening comes before a choice's first chunk, where the API has one.
  virtual std::optional<boost::json::object> opening(size_t choice) const = 0;
  virtual boost::json::object chunk(size_t choice, const Piece& piece) const = 0;
  virtual boost::json::object closing(size_t choice, const Choice& ended) const = 0;
  virtual boost::json::object whole(size_t choice, const Piece& all, const Choice& ended) const = 0;
};

// Members both APIs share (vLLM's extensions): output ids, and the stop string that ended a choice, else
// null.
boost::json::array token_ids(const Piece& piece);
boost::json::value stop_reason(const Choice& ended);

struct Usage {
  uint64_t prompt_tokens = 0;
  uint64_t completion_tokens = 0;
  uint64_t cached_tokens = 0;  // of the prompt
};
boost::json::object usage_object(const Usage& usage);

// {"queue_ms", "prefill_ms", "decode_ms", "prefill_tokens_per_second", "decode_tokens_per_second"} of a
// request: the longest times among its choices, and the rates of all its tokens in them. A rate that is
// unknown is null.
boost::json::object timings_object(const ChoiceTimes& longest, const Usage& usage, size_t choices);

}  // namespace reprise
