// The parts of the chat client that need no terminal and no socket: history, stream pieces, speed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/chat.h"
#include "base/clock.h"
#include "base/result.h"

namespace reprise {

class Conversation {
 public:
  explicit Conversation(const ChatOptions& options) : options_(options) {}

  // The JSON body that asks for the answer to `prompt` after all that was remembered.
  std::string request(std::string_view model, std::string_view prompt) const;
  void remember(std::string prompt, std::string answer);
  void clear() { turns_.clear(); }

 private:
  struct Turn {
    std::string prompt, answer;
  };
  const ChatOptions options_;
  std::vector<Turn> turns_;
};

// One streamed chunk (the data of one event).
struct Piece {
  std::string text;
  std::string reasoning;
  std::string finish_reason;  // "length", ... when the chunk ends the answer
  std::optional<uint32_t> prompt_tokens, cached_tokens, output_tokens;  // when it carries usage
};
Result<Piece> parse_piece(std::string_view json);

// The message of an error answer, whatever its form; falls back to the status.
std::string error_message(int status, std::string_view body);

struct Speed {
  Nanos sent = 0, first = 0, last = 0;  // when the request went out, the first and the latest piece came
  uint32_t pieces = 0;                  // stands for the tokens when the server sends no usage
  std::optional<uint32_t> prompt_tokens, cached_tokens, output_tokens;
};
// "0.31 s to first token, 120 tokens at 45.2 tokens/s, prompt 512 tokens (480 cached)"
std::string speed_line(const Speed& speed);

// Text that is safe to show: a model's control characters must not drive the terminal. Keeps line feed and
// tab.
std::string for_terminal(std::string_view text);

}  // namespace reprise
