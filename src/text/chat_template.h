// A model's chat template: messages and tools in, prompt text out. Immutable; render() may be called from any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"
#include "text/marked_text.h"

namespace reprise {

struct ChatInput {
  // As templates see them: role, content (string, null or parts), tool_calls, reasoning_content, ... The
  // caller has checked each role against those it knows: templates may make control tokens of them.
  boost::json::array messages;
  boost::json::array tools;  // OpenAI tool objects; empty = the template sees no tools
  bool add_generation_prompt = true;
  // The text ends where the content of the last message does, so that the model goes on with it. Its content
  // is a string that is not empty.
  bool continue_final_message = false;
  boost::json::object
      extra;        // further top-level variables (chat_template_kwargs); they win over the ones above
  int64_t now = 0;  // seconds since 1970 UTC, for strftime_now
};

class ChatTemplate {
 public:
  // `bos` and `eos` are the texts of those tokens (bos_token, eos_token in templates).
  static Result<ChatTemplate> parse(std::string_view source, std::string bos, std::string eos);
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // What the model is to read, marked with what the template itself wrote: only there may control tokens
  // stand (EncodeOptions::control_spans).
  // Errors: kInvalid with the message of raise_exception, the template's own error (line, column), or where
  // it does not show the message to be continued; kTooLarge when a budget (instructions, loops, output) is
  // exhausted.
  Result<MarkedText> render(const ChatInput& input) const;

 private:
  struct Parsed;
  explicit ChatTemplate(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace reprise
