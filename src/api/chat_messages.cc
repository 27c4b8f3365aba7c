#include "api/chat_messages.h"

#include "api/fields.h"
#include "api/json_body.h"
#include "api/shortened.h"

namespace reprise {
namespace json = boost::json;
namespace {

// What becomes of parts that are no text.
struct Modalities {
  bool strict;
  OmittedParts omitted;
};

uint32_t& counter_of(OmittedParts& omitted, std::string_view type) {
  if (type.find("image") != type.npos) return omitted.images;
  if (type.find("audio") != type.npos) return omitted.audio;
  if (type.find("video") != type.npos) return omitted.video;
  if (type.find("file") != type.npos || type.find("document") != type.npos) return omitted.files;
  return omitted.others;
}

Result<std::string> part_text(const json::value& part, const std::string& path, Modalities& modalities) {
  if (part.is_string()) return std::string(part.get_string());
  if (!part.is_object()) return wrong_type(path, "a content part", part);
  Fields fields(part.get_object(), path);
  std::string type = TRY(fields.string("type")).value_or("text");
  if (type == "text" || type == "input_text" || type == "output_text") {
    auto text = TRY(fields.string("text"));
    if (!text) return invalid_param(fields.path("text"), "'{}' is missing.", fields.path("text"));
    return *text;
  }
  if (type == "refusal") return TRY(fields.string("refusal")).value_or("");
  const std::string shown = shortened(type, 40);
  if (modalities.strict) {
    return std::unexpected(
        Error{ErrorKind::kUnsupported,
              fmt::format("'{}' is \"{}\": this model reads text only, and this server was "
                          "told not to leave such parts out (--strict-modalities).",
                          fields.path("type"), shown),
              fields.path("type")});
  }
  ++counter_of(modalities.omitted, type);
  // The model must see that something was here, and so must whoever reads the conversation.
  return fmt::format("[{} omitted: this model reads text only]", shown);
}

Result<void> normalize_content(json::object& message, const std::string& path, bool may_be_null,
                               Modalities& modalities) {
  json::value& content = message["content"];
  if (content.is_null()) {
    if (!may_be_null) content = "";
    return {};
  }
  if (content.is_string()) return {};
  if (!content.is_array()) {
    return wrong_type(path + ".content", "a string, an array of parts, or null", content);
  }
  std::string text;
  const json::array& parts = content.get_array();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += '\n';
    text += TRY(part_text(parts[i], fmt::format("{}.content[{}]", path, i), modalities));
  }
  content = text;
  return {};
}

Result<void> normalize_call(json::value& value, const std::string& path) {
  if (!value.is_object()) return wrong_type(path, "an object", value);
  Fields call(value.get_object(), path);
  TRY(call.string("id"));
  if (!TRY(call.object("function"))) {
    return invalid_param(call.path("function"), "'{}' is missing.", call.path("function"));
  }
  json::object& function = value.get_object()["function"].get_object();
  Fields members(function, call.path("function"));
  if (TRY(members.string("name")).value_or("").empty()) {
    return invalid_param(members.path("name"), "'{}' is missing or empty.", members.path("name"));
  }
  json::value& arguments = function["arguments"];
  if (arguments.is_null()) {
    arguments = json::object();
  } else if (arguments.is_string()) {
    if (arguments.get_string().empty()) {
      arguments = json::object();
    } else if (auto parsed = parse_json(arguments.get_string()); parsed && parsed->is_object()) {
      arguments = std::move(*parsed);
    }
  } else if (!arguments.is_object()) {
    return wrong_type(members.path("arguments"), "a string or an object", arguments);
  }
  return {};
}

Result<bool> normalize_calls(json::object& message, const std::string& path) {
  Fields fields(message, path);
  const json::array* calls = TRY(fields.array("tool_calls"));
  if (!calls || calls->empty()) {
    message.erase("tool_calls");
    return false;
  }
  json::array& list = message["tool_calls"].get_array();
  for (size_t i = 0; i < list.size(); ++i) {
    TRY(normalize_call(list[i], fmt::format("{}.tool_calls[{}]", path, i)));
  }
  return true;
}

Result<void> normalize_reasoning(json::object& message, const std::string& path) {
  Fields fields(message, path);
  auto reasoning = TRY(fields.string("reasoning_content"));
  if (!reasoning && message.contains("reasoning")) {
    const json::value& alias = message.at("reasoning");
    if (alias.is_string()) reasoning = std::string(alias.get_string());
  }
  if (reasoning) {
    message["reasoning_content"] = *reasoning;
  } else {
    message.erase("reasoning_content");
  }
  return {};
}

Result<void> normalize_message(json::value& value, const std::string& path, const TemplateTraits& traits,
                               Modalities& modalities) {
  if (!value.is_object()) return wrong_type(path, "an object", value);
  json::object& message = value.get_object();
  Fields fields(message, path);
  auto role = TRY(fields.string("role"));
  if (!role) return invalid_param(path + ".role", "'{}.role' is missing.", path);
  if (*role == "developer" && !traits.developer_role) {
    message["role"] = "system";
  } else if (*role != "system" && *role != "developer" && *role != "user" && *role != "assistant" &&
             *role != "tool") {
    return invalid_param(path + ".role",
                         "'{}.role' must be system, developer, user, assistant or tool, not \"{}\".", path,
                         shortened(*role, 40));
  }
  TRY(fields.string("name"));
  TRY(fields.string("tool_call_id"));
  bool has_calls = TRY(normalize_calls(message, path));
  TRY(normalize_reasoning(message, path));
  return normalize_content(message, path, has_calls && traits.null_content, modalities);
}

}  // namespace

Result<OmittedParts> normalize_messages(json::array& messages, const TemplateTraits& traits, bool strict) {
  Modalities modalities{strict, {}};
  if (messages.empty()) return invalid_param("messages", "'messages' is empty: send at least one message.");
  for (size_t i = 0; i < messages.size(); ++i) {
    TRY(normalize_message(messages[i], fmt::format("messages[{}]", i), traits, modalities));
  }
  return modalities.omitted;
}

}  // namespace reprise
