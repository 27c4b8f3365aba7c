#include "api/chat_request.h"

#include <algorithm>
#include <iterator>

#include "api/shortened.h"

namespace reprise {
namespace json = boost::json;
namespace {

// Tools are shown to the template as they came. Kinds other than functions (namespaces, hosted tools) mean
// nothing to a template; clients send them to every server and expect the rest to work, so they are skipped.
Result<json::array> parse_tools(const Fields& fields) {
  json::array tools;
  const json::array* given = TRY(fields.array("tools"));
  if (!given) return tools;
  for (size_t i = 0; i < given->size(); ++i) {
    std::string path = fmt::format("{}[{}]", fields.path("tools"), i);
    const json::value& value = (*given)[i];
    if (!value.is_object()) return wrong_type(path, "an object", value);
    Fields tool(value.get_object(), path);
    if (TRY(tool.string("type")).value_or("function") != "function") continue;
    const json::object* function = TRY(tool.object("function"));
    if (!function) return invalid_param(tool.path("function"), "'{}' is missing.", tool.path("function"));
    Fields members(*function, tool.path("function"));
    if (TRY(members.string("name")).value_or("").empty()) {
      return invalid_param(members.path("name"), "'{}' is missing or empty.", members.path("name"));
    }
    tools.push_back(value);
  }
  return tools;
}

Result<void> check_tool_choice(const Fields& fields) {
  const json::value* choice = fields.find("tool_choice");
  if (!choice || choice->is_object()) return {};
  if (!choice->is_string()) return wrong_type(fields.path("tool_choice"), "a string or an object", *choice);
  std::string_view name = choice->get_string();
  if (name != "none" && name != "auto" && name != "required") {
    return invalid_param(fields.path("tool_choice"),
                         "'tool_choice' must be \"none\", \"auto\", \"required\" or an object.");
  }
  return {};
}

Result<int32_t> parse_logprobs(const Fields& fields) {
  bool wanted = TRY(fields.boolean("logprobs")).value_or(false);
  auto top = TRY(fields.integer("top_logprobs", 0, 20));
  if (top.value_or(0) > 0 && !wanted) {
    return invalid_param(fields.path("top_logprobs"), "'top_logprobs' needs 'logprobs': true.");
  }
  return wanted ? static_cast<int32_t>(top.value_or(0)) : -1;
}

// Variables of templates that the request has other fields for, or that are the model's own.
constexpr std::string_view kReserved[] = {"messages",  "tools",        "bos_token",
                                          "eos_token", "strftime_now", "raise_exception"};

// Template variables, by rising rank: reasoning_effort, enable_thinking, chat_template_kwargs.
Result<json::object> parse_variables(const Fields& fields, const TemplateTraits& traits) {
  json::object variables;
  if (auto effort = TRY(fields.string("reasoning_effort"))) {
    constexpr std::string_view kEfforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
    if (std::ranges::find(kEfforts, *effort) == std::end(kEfforts)) {
      return invalid_param(fields.path("reasoning_effort"),
                           "'reasoning_effort' must be none, minimal, low, medium, high, xhigh or max, not "
                           "\"{}\".",
                           shortened(*effort, 40));
    }
    variables["reasoning_effort"] = *effort;
    // A template that can only think or not think does as near as it can.
    if (traits.thinking && !traits.effort) {
      const bool thinks = *effort != "none" && *effort != "minimal";
      variables["enable_thinking"] = thinks;
      variables["thinking"] = thinks;
    }
  }
  if (auto thinks = TRY(fields.boolean("enable_thinking"))) {
    variables["enable_thinking"] = *thinks;
    variables["thinking"] = *thinks;  // DeepSeek's name for it
  }
  if (const json::object* extra = TRY(fields.object("chat_template_kwargs"))) {
    for (const auto& [key, value] : *extra) {
      if (std::ranges::find(kReserved, std::string_view(key)) != std::end(kReserved)) {
        return invalid_param(fmt::format("{}.{}", fields.path("chat_template_kwargs"), std::string_view(key)),
                             "'chat_template_kwargs' cannot replace '{}'.", std::string_view(key));
      }
      variables[key] = value;
    }
  }
  return variables;
}

// The last message, to be gone on with, must be an answer begun.
Result<void> check_continued(const json::array& messages) {
  const json::object& last = messages.back().get_object();
  const bool text = last.at("content").is_string() && !last.at("content").get_string().empty();
  if (last.at("role") == "assistant" && text && !last.contains("tool_calls")) return {};
  return invalid_param(
      "continue_final_message",
      "'continue_final_message' needs a last message of the assistant that has content and no "
      "tool calls.");
}

}  // namespace

Result<Conversation> parse_conversation(json::object& body, const ChatLimits& limits) {
  Fields fields(body);
  Conversation conversation;
  ChatInput& input = conversation.input;
  input.tools = TRY(parse_tools(fields));
  input.continue_final_message = TRY(fields.boolean("continue_final_message")).value_or(false);
  const auto prompt = TRY(fields.boolean("add_generation_prompt"));
  if (input.continue_final_message && prompt.value_or(false)) {
    return invalid_param(
        fields.path("add_generation_prompt"),
        "'add_generation_prompt' begins a new message, 'continue_final_message' goes on with "
        "the last one: send one of them.");
  }
  input.add_generation_prompt = prompt.value_or(!input.continue_final_message);
  input.extra = TRY(parse_variables(fields, limits.traits));
  if (!TRY(fields.array("messages")))
    return invalid_param("messages", "'messages' is missing: send an array of messages.");
  input.messages = std::move(body["messages"].get_array());
  conversation.omitted = TRY(normalize_messages(input.messages, limits.traits, limits.strict_modalities));
  if (input.continue_final_message) TRY(check_continued(input.messages));
  return conversation;
}

Result<ChatRequest> parse_chat_request(json::object body, const ChatLimits& limits) {
  Fields fields(body);
  ChatRequest request;
  request.fields = TRY(parse_generation_fields(fields, limits.vocabulary, limits.sampling));
  request.fields.sampling.logprobs = TRY(parse_logprobs(fields));
  TRY(check_tool_choice(fields));
  Conversation conversation = TRY(parse_conversation(body, limits));
  request.input = std::move(conversation.input);
  request.omitted = conversation.omitted;
  return request;
}

}  // namespace reprise
