// `reprise chat`: a conversation in the terminal with any server of the OpenAI chat API.
//
// Waits for a server that is still loading its model. On a terminal: a line while it waits, a prompt, the
// answer as it streams, a line with its speed; Ctrl-C stops an answer (twice: leaves), Ctrl-D leaves.
// Otherwise standard input is one prompt and standard output its answer, nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace reprise {

struct ChatOptions {
  std::string url = "http://127.0.0.1:8000";
  std::string system;                  // empty: none
  std::string model;                   // empty: the first that the server names
  std::string api_key;                 // empty: none
  std::optional<double> temperature;   // unset: the server's
  std::optional<uint32_t> max_tokens;  // unset: the server's
};

// The process's exit status: 0, 1 after an error (said in one line on standard error), 130 after Ctrl-C.
int run_chat(const ChatOptions& options);

}  // namespace reprise
