// A chat template is a Jinja template with the variables that transformers' apply_chat_template defines.
#include "text/chat_template.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "text/jinja/template.h"
#include "text/jinja/unicode.h"

namespace reprise {

struct ChatTemplate::Parsed {
  jinja::Compiled compiled;
  std::string bos;
  std::string eos;
};

namespace {

// Put behind the message that is to be continued, so that its end is known whatever the template writes
// around and after it, and however short it is. The last occurrence counts: a conversation that holds these
// letters changes nothing. The space shows whether the template keeps white space at a message's end.
constexpr std::string_view kEnd = "qZxContinuesHereXzq";

// The conversation with the last message's end marked.
boost::json::array with_end(const boost::json::array& messages) {
  boost::json::array marked = messages;
  boost::json::string& content = marked.back().as_object().at("content").as_string();
  content.append(kEnd);
  content.push_back(' ');
  return marked;
}

// Cuts off what follows the last message. As in transformers, white space around the message may be lost
// where the template strips messages.
Result<void> end_in_message(MarkedText& prompt) {
  const size_t at = prompt.text.rfind(kEnd);
  if (at == std::string::npos) {
    return invalid("it does not show the last message as it was sent, so that cannot be continued");
  }
  const bool kept = prompt.text.compare(at + kEnd.size(), 1, " ") == 0;
  cut(prompt, kept ? at : jinja::unicode::strip_right(std::string_view(prompt.text).substr(0, at)).size());
  return {};
}

}  // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, std::string bos, std::string eos) {
  jinja::Compiled compiled = TRY(jinja::Compiled::compile(source));
  return ChatTemplate(std::make_unique<const Parsed>(std::move(compiled), std::move(bos), std::move(eos)));
}

Result<MarkedText> ChatTemplate::render(const ChatInput& input) const {
  std::vector<jinja::Variable> variables = {
      {"bos_token", std::string_view(parsed_->bos)},
      {"eos_token", std::string_view(parsed_->eos)},
      {"messages", &input.messages, "role"},
      {"tools", std::monostate()},  // None where there are none, as in transformers
      {"documents", std::monostate()},
      {"add_generation_prompt", input.add_generation_prompt},
  };
  if (!input.tools.empty()) variables[3].value = &input.tools;
  for (const auto& [name, value] : input.extra)
    variables.push_back({std::string_view(name.data(), name.size()), &value});
  const boost::json::array marked =
      input.continue_final_message ? with_end(input.messages) : boost::json::array();
  if (input.continue_final_message) variables[2].value = &marked;
  MarkedText prompt = TRY(parsed_->compiled.render(variables, input.now));
  if (input.continue_final_message) TRY(end_in_message(prompt));
  return prompt;
}

}  // namespace reprise
