#include "text/tool_calls/tools.h"

#include <gtest/gtest.h>

namespace reprise::calls {
namespace {
namespace json = boost::json;

int types(std::string_view schema) {
  const json::value value = json::parse(schema);
  return types_of(value, value);
}

TEST(SchemaTypes, AreThoseTheSchemaAllows) {
  EXPECT_EQ(types(R"({"type": "string"})"), kString);
  EXPECT_EQ(types(R"({"type": ["string", "null"]})"), kString | kNull);
  EXPECT_EQ(types(R"({"type": "number"})"), kNumber | kInteger);
  EXPECT_EQ(types(R"({"enum": ["a", 1, null]})"), kString | kInteger | kNull);
  EXPECT_EQ(types(R"({"const": true})"), kBoolean);
  EXPECT_EQ(types(R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})"), kInteger | kNull);
  EXPECT_EQ(types(R"({"type": "integer", "anyOf": [{"minimum": 1}, {"type": "null"}]})"), kInteger);
  EXPECT_EQ(types(R"({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]})"), kString);
  EXPECT_EQ(types(R"({"$defs": {"a": {"type": "array"}}, "$ref": "#/$defs/a"})"), kArray);
  EXPECT_EQ(types(R"({})"), kAnyType);
  EXPECT_EQ(types(R"(true)"), kAnyType);
  EXPECT_EQ(types(R"({"type": "strange"})"), kAnyType);
  EXPECT_EQ(types(R"({"$ref": "#"})"), kAnyType) << "a schema that refers to itself";
  EXPECT_EQ(types(R"({"$ref": "#/$defs/missing"})"), kAnyType);
}

TEST(TaggedValues, AreJsonOfADeclaredTypeOrStrings) {
  EXPECT_EQ(json_value_of("5", kString), R"("5")");
  EXPECT_EQ(json_value_of("5", kInteger), "5");
  EXPECT_EQ(json_value_of(" 5\n", kInteger), "5");
  EXPECT_EQ(json_value_of("five", kInteger), R"("five")");
  EXPECT_EQ(json_value_of("5.5", kInteger), R"("5.5")");
  EXPECT_EQ(json_value_of("True", kBoolean), "true");
  EXPECT_EQ(json_value_of("None", static_cast<JsonTypes>(kString | kNull)), "null");
  EXPECT_EQ(json_value_of("[1, 2]", kArray), "[1, 2]");
  EXPECT_EQ(json_value_of("{'a': [True, None, 'b']}", kObject), R"({"a":[true,null,"b"]})") << "Python's";
  EXPECT_EQ(json_value_of("{'a': 1} and more", kObject), R"("{'a': 1} and more")");
  EXPECT_EQ(json_value_of("[1, 2", kArray), R"("[1, 2")");
  EXPECT_EQ(json_value_of("\"quoted\"", kAnyType), R"("\"quoted\"")") << "a string stays as it was written";
  EXPECT_EQ(json_value_of("a\n\"b\"", kNoType), R"("a\n\"b\"")");
}

TEST(Tools, AreFoundByTheirArguments) {
  const Tools tools(json::parse(R"([
    {"type": "function", "function": {"name": "a", "parameters": {"properties": {"x": {}, "y": {}}, "required": ["x"]}}},
    {"type": "function", "function": {"name": "b", "parameters": {"properties": {"y": {}, "z": {}}, "required": ["z"]}}},
    {"type": "web_search"}, 5, {"type": "function", "function": {"name": "a"}}
  ])")
                        .as_array());
  EXPECT_EQ(tools.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tools.that_takes({"x"}), "a");
  EXPECT_EQ(tools.that_takes({"x", "y"}), "a");
  EXPECT_EQ(tools.that_takes({"z"}), "b");
  EXPECT_EQ(tools.that_takes({"y"}), "");
  EXPECT_EQ(tools.that_takes({"x", "z"}), "");
}

}  // namespace
}  // namespace reprise::calls
