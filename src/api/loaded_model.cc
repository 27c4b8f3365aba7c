#include "api/loaded_model.h"

namespace reprise {
namespace json = boost::json;
namespace {

// A conversation with a tool call whose message has this content renders, and nowhere as Python's None.
bool renders_content(const ChatTemplate& chat_template, const json::value& content) {
  const json::object function{{"name", "f"}, {"arguments", json::object{{"a", 1}}}};
  const json::object call{{"id", "callcall1"}, {"type", "function"}, {"function", function}};
  ChatInput input;
  input.messages = {
      json::object{{"role", "user"}, {"content", "u"}},
      json::object{{"role", "assistant"}, {"content", content}, {"tool_calls", json::array{call}}},
      json::object{{"role", "tool"}, {"tool_call_id", "callcall1"}, {"content", "r"}}};
  const Result<MarkedText> text = chat_template.render(input);
  return text && text->text.find("None") == std::string::npos;
}

}  // namespace

TemplateTraits traits_of(const ServedModel& model) {
  TemplateTraits traits;
  const auto mentions = [&](std::string_view name) {
    return model.info.chat_template.find(name) != std::string::npos;
  };
  traits.developer_role = mentions("developer");
  traits.effort = mentions("reasoning_effort");
  traits.thinking = mentions("enable_thinking") || mentions("thinking is defined") || mentions("if thinking");
  if (model.chat_template) {
    // A template that takes neither is left with what the client sent, and says itself what it wants.
    traits.null_content =
        renders_content(*model.chat_template, nullptr) || !renders_content(*model.chat_template, "");
  }
  return traits;
}

}  // namespace reprise
