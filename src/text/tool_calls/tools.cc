#include "text/tool_calls/tools.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "text/tool_calls/json_value.h"

namespace reprise::calls {
namespace json = boost::json;
namespace {

constexpr int kMaxReferences = 16;  // of a schema, one in another

JsonTypes operator|(JsonTypes a, JsonTypes b) { return static_cast<JsonTypes>(static_cast<int>(a) | b); }
JsonTypes operator&(JsonTypes a, JsonTypes b) { return static_cast<JsonTypes>(static_cast<int>(a) & b); }

JsonTypes type_named(std::string_view name) {
  if (name == "null") return kNull;
  if (name == "boolean") return kBoolean;
  if (name == "integer") return kInteger;
  if (name == "number") return kInteger | kNumber;
  if (name == "string") return kString;
  if (name == "array") return kArray;
  if (name == "object") return kObject;
  return kNoType;
}

JsonTypes type_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return kNull;
    case json::kind::bool_:
      return kBoolean;
    case json::kind::int64:
    case json::kind::uint64:
      return kInteger;
    case json::kind::double_: {
      const double number = value.get_double();
      return std::isfinite(number) && number == std::trunc(number) ? kInteger | kNumber : kNumber;
    }
    case json::kind::string:
      return kString;
    case json::kind::array:
      return kArray;
    case json::kind::object:
      return kObject;
  }
  return kNoType;
}

JsonTypes types_in(const json::value& schema, const json::value& root, int depth) {
  if (!schema.is_object() || depth == kMaxReferences) return kAnyType;
  const json::object& members = schema.get_object();
  JsonTypes types = kAnyType;
  if (const json::value* type = members.if_contains("type")) {
    JsonTypes named = kNoType;
    if (type->is_string()) named = type_named(type->get_string());
    if (type->is_array()) {
      for (const json::value& one : type->get_array())
        if (one.is_string()) named = named | type_named(one.get_string());
    }
    if (named != kNoType) types = named;
  }
  if (const json::value* only = members.if_contains("const")) types = types & type_of(*only);
  if (const json::value* values = members.if_contains("enum"); values && values->is_array()) {
    JsonTypes listed = kNoType;
    for (const json::value& one : values->get_array()) listed = listed | type_of(one);
    types = types & listed;
  }
  for (const char* choice : {"anyOf", "oneOf"}) {
    const json::value* schemas = members.if_contains(choice);
    if (!schemas || !schemas->is_array()) continue;
    JsonTypes any = kNoType;
    for (const json::value& one : schemas->get_array()) any = any | types_in(one, root, depth + 1);
    types = types & any;
  }
  if (const json::value* schemas = members.if_contains("allOf"); schemas && schemas->is_array()) {
    for (const json::value& one : schemas->get_array()) types = types & types_in(one, root, depth + 1);
  }
  if (const json::value* reference = members.if_contains("$ref"); reference && reference->is_string()) {
    const std::string_view path = reference->get_string();
    boost::system::error_code missing;
    const json::value* target = path.starts_with('#') ? root.find_pointer(path.substr(1), missing) : nullptr;
    if (target) types = types & types_in(*target, root, depth + 1);
  }
  return types == kNoType ? kAnyType : types;
}

struct WrittenValue {
  std::string json;
  JsonTypes type;
};

// What `text` is as JSON, or as Python would write it. The whole of it: no string that only begins like a
// list.
std::optional<WrittenValue> value_in(std::string_view text) {
  boost::system::error_code error;
  const json::value as_it_is = json::parse(text, error);
  if (!error) return WrittenValue{std::string(text), type_of(as_it_is)};
  Collected mended;
  JsonReader reader(mended, JsonReader::Wanted::kAny);
  const size_t taken = reader.take(text);
  const bool word = text == "True" || text == "False" || text == "None";
  if (!word && (taken < text.size() || !reader.complete())) return std::nullopt;
  reader.close();
  const json::value value = json::parse(mended.text, error);
  if (error) return std::nullopt;
  return WrittenValue{mended.text, type_of(value)};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace

JsonTypes types_of(const json::value& schema, const json::value& root) { return types_in(schema, root, 0); }

Tools::Tools(const json::array& tools) {
  for (const json::value& entry : tools) {
    const json::object* tool = entry.if_object();
    const json::value* function = tool ? tool->if_contains("function") : nullptr;
    if (!function || !function->is_object()) continue;
    const json::value* name = function->get_object().if_contains("name");
    if (!name || !name->is_string()) continue;
    const std::string key(name->get_string());
    auto [place, added] = tools_.try_emplace(key);
    if (!added) continue;
    names_.push_back(key);
    const json::value* schema = function->get_object().if_contains("parameters");
    if (!schema || !schema->is_object()) continue;
    const json::value* properties = schema->get_object().if_contains("properties");
    if (properties && properties->is_object()) {
      for (const auto& [parameter, declared] : properties->get_object())
        place->second.parameters.emplace(parameter, types_of(declared, *schema));
    }
    const json::value* required = schema->get_object().if_contains("required");
    if (required && required->is_array()) {
      for (const json::value& one : required->get_array())
        if (one.is_string()) place->second.required.emplace_back(one.get_string());
    }
  }
}

JsonTypes Tools::types(std::string_view tool, std::string_view parameter) const {
  const auto found = tools_.find(tool);
  if (found == tools_.end()) return kNoType;
  const auto declared = found->second.parameters.find(parameter);
  return declared == found->second.parameters.end() ? kNoType : declared->second;
}

std::string_view Tools::that_takes(const std::vector<std::string>& keys) const {
  std::string_view only;
  for (const auto& [name, tool] : tools_) {
    const bool takes =
        std::ranges::all_of(keys, [&](const std::string& key) { return tool.parameters.contains(key); }) &&
        std::ranges::all_of(tool.required, [&](const std::string& key) {
          return std::ranges::find(keys, key) != keys.end();
        });
    if (!takes) continue;
    if (!only.empty()) return {};
    only = name;
  }
  return only;
}

std::string json_value_of(std::string_view text, JsonTypes types) {
  if (types != kNoType && types != kString) {
    // A text that is a JSON string stays as it was written where any string will do.
    const auto value = value_in(trimmed(text));
    if (value && (value->type & types) != kNoType && value->type != kString) return value->json;
  }
  std::string quoted = "\"";
  append_escaped(quoted, text);
  return quoted + '"';
}

}  // namespace reprise::calls
