// A chat template is a Jinja template with the variables that transformers' apply_chat_template defines.
#include "text/chat_template.h"

#include <utility>
#include <vector>

#include "text/jinja/template.h"

namespace reprise {

struct ChatTemplate::Parsed {
  jinja::Compiled compiled;
  std::string bos;
  std::string eos;
};

ChatTemplate::ChatTemplate(std::unique_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, std::string bos, std::string eos) {
  jinja::Compiled compiled = TRY(jinja::Compiled::compile(source));
  return ChatTemplate(std::make_unique<const Parsed>(std::move(compiled), std::move(bos), std::move(eos)));
}

Result<std::string> ChatTemplate::render(const ChatInput& input) const {
  std::vector<jinja::Variable> variables = {
      {"bos_token", std::string_view(parsed_->bos)},
      {"eos_token", std::string_view(parsed_->eos)},
      {"messages", &input.messages},
      {"tools", std::monostate()},  // None where there are none, as in transformers
      {"documents", std::monostate()},
      {"add_generation_prompt", input.add_generation_prompt},
  };
  if (!input.tools.empty()) variables[3].value = &input.tools;
  for (const auto& [name, value] : input.extra)
    variables.push_back({std::string_view(name.data(), name.size()), &value});
  return parsed_->compiled.render(variables, input.now);
}

}  // namespace reprise
