#include "api/chat_request.h"

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

}  // namespace

Result<ChatInput> parse_chat_input(json::object& body, const TemplateTraits& traits) {
  Fields fields(body);
  ChatInput input;
  input.tools = TRY(parse_tools(fields));
  input.add_generation_prompt = TRY(fields.boolean("add_generation_prompt")).value_or(true);
  if (auto effort = TRY(fields.string("reasoning_effort"))) input.extra["reasoning_effort"] = *effort;
  if (const json::object* extra = TRY(fields.object("chat_template_kwargs"))) {
    for (const auto& [key, value] : *extra) input.extra[key] = value;
  }
  if (!TRY(fields.array("messages")))
    return invalid_param("messages", "'messages' is missing: send an array of messages.");
  input.messages = std::move(body["messages"].get_array());
  TRY(normalize_messages(input.messages, traits));
  return input;
}

Result<ChatRequest> parse_chat_request(json::object body, const ChatLimits& limits) {
  Fields fields(body);
  ChatRequest request;
  request.fields = TRY(parse_generation_fields(fields, limits.vocabulary));
  request.fields.sampling.logprobs = TRY(parse_logprobs(fields));
  TRY(check_tool_choice(fields));
  request.input = TRY(parse_chat_input(body, limits.traits));
  return request;
}

}  // namespace reprise
