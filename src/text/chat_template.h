// A model's chat template: messages and tools in, prompt text out. Immutable; render() may be called from any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

struct ChatInput {
  boost::json::array messages;  // as templates see them: role, content (string, null or parts), tool_calls,
                                // reasoning_content, ...
  boost::json::array tools;     // OpenAI tool objects; empty = the template sees no tools
  bool add_generation_prompt = true;
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

  // Errors: kInvalid with the message of raise_exception or the template's own error (line, column);
  // kTooLarge when a budget (instructions, loops, output) is exhausted.
  Result<std::string> render(const ChatInput& input) const;

 private:
  struct Parsed;
  explicit ChatTemplate(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace reprise
