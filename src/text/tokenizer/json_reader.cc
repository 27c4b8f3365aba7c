#include "text/tokenizer/json_reader.h"

namespace reprise {
namespace json = boost::json;

JsonNode JsonNode::operator[](std::string_view key) const {
  static const json::value null;
  const json::object* object = value_->if_object();
  const json::value* member = object == nullptr ? nullptr : object->if_contains(key);
  return {member == nullptr ? null : *member, fmt::format("{}.{}", place_, key)};
}

JsonNode JsonNode::at(size_t index) const {
  return {value_->get_array()[index], fmt::format("{}[{}]", place_, index)};
}

std::unexpected<Error> JsonNode::wanted(std::string_view type) const {
  return invalid("{} is {}, wanted {}", place_, is_null() ? "missing" : "of another type", type);
}

Result<std::string_view> JsonNode::string() const {
  const json::string* text = value_->if_string();
  if (text == nullptr) return wanted("a string");
  return std::string_view(text->data(), text->size());
}
Result<bool> JsonNode::boolean() const {
  if (!value_->is_bool()) return wanted("true or false");
  return value_->get_bool();
}
Result<int64_t> JsonNode::integer() const {
  if (!value_->is_int64()) return wanted("an integer");
  return value_->get_int64();
}
Result<double> JsonNode::number() const {
  if (!value_->is_number()) return wanted("a number");
  return value_->to_number<double>();
}
Result<const json::object*> JsonNode::object() const {
  if (!value_->is_object()) return wanted("an object");
  return &value_->get_object();
}
Result<const json::array*> JsonNode::array() const {
  if (!value_->is_array()) return wanted("an array");
  return &value_->get_array();
}
Result<std::string_view> JsonNode::string_or(std::string_view other) const {
  if (is_null()) return other;
  return string();
}
Result<bool> JsonNode::boolean_or(bool other) const {
  if (is_null()) return other;
  return boolean();
}

Result<json::value> parse_json_file(std::string_view text, std::string_view name, json::storage_ptr storage) {
  json::parse_options options;
  options.max_depth = 64;
  boost::system::error_code error;
  json::value parsed = json::parse({text.data(), text.size()}, error, std::move(storage), options);
  if (error) return invalid("{} is no JSON: {}", name, error.message());
  if (!parsed.is_object()) return invalid("{} is no JSON object", name);
  return parsed;
}

}  // namespace reprise
