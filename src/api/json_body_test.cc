#include "api/json_body.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using ::testing::HasSubstr;

std::string message_of(std::string_view body) {
  auto parsed = parse_body(body);
  return parsed ? "parsed" : parsed.error().message;
}

TEST(JsonBody, TellsWhereTheFaultLies) {
  EXPECT_THAT(message_of("{\"a\": 1,\n \"b\": tru }"), HasSubstr("(line 2, column "));
  auto fault = parse_body("{\"a\":1 x}");
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(fault.error().message, HasSubstr("at byte 7 (line 1, column 8)"));
}

TEST(JsonBody, RefusesWhatIsNoObject) {
  EXPECT_THAT(message_of(""), HasSubstr("empty"));
  EXPECT_THAT(message_of("[1]"), HasSubstr("must be a JSON object, not an array"));
  EXPECT_THAT(message_of("null"), HasSubstr("not null"));
  EXPECT_THAT(message_of("\"x\""), HasSubstr("not a string"));
  EXPECT_THAT(message_of("{} {}"), HasSubstr("more text after the value"));
  EXPECT_THAT(message_of("{\"a\":"), HasSubstr("ends too early"));
}

TEST(JsonBody, BoundsTheDepth) {
  auto nested = [](size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(message_of(nested(kMaxJsonDepth - 1)), "parsed");
  EXPECT_THAT(message_of(nested(kMaxJsonDepth)), HasSubstr("nested deeper than 128 levels"));
  EXPECT_THAT(message_of(std::string(5'000'000, '[')), HasSubstr("not valid JSON"));
}

TEST(JsonBody, RefusesInvalidUtf8) {
  EXPECT_THAT(message_of("{\"a\":\"\xff\"}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(message_of("{\"a\":\"\xc3\"}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(message_of("\xef\xbb\xbf{}"), HasSubstr("at byte 0"));
}

TEST(JsonBody, ReplacesLoneSurrogates) {
  auto text_of = [](std::string_view escaped) {
    auto body = parse_body("{\"a\":\"" + std::string(escaped) + "\"}");
    return body ? std::string(body->at("a").as_string()) : body.error().message;
  };
  EXPECT_EQ(text_of("x\\ud83dy"), "x\uFFFDy");
  EXPECT_EQ(text_of("x\\ud83d"), "x\uFFFD");
  EXPECT_EQ(text_of("\\ude00x"), "\uFFFDx");
  EXPECT_EQ(text_of("\\ud83d\\u0041"), "\uFFFDA");
  EXPECT_EQ(text_of("\\ud83d\\ud83d\\ude00"), "\uFFFD\U0001F600");
  EXPECT_EQ(text_of("\\ud83d\\ude00 \\ud83d"), "\U0001F600 \uFFFD");
  EXPECT_EQ(text_of("\\\\ud83d \\ud83d"), "\\ud83d \uFFFD");  // an escaped backslash is no escape
  EXPECT_EQ(text_of("\\ud83d\\n"), "\uFFFD\n");
  EXPECT_THAT(text_of("\\ud83d\\uZZZZ"), HasSubstr("not valid JSON"));
}

TEST(JsonBody, TheLastOfDuplicateKeysCounts) {
  auto body = parse_body(R"({"a":1,"b":2,"a":3})");
  ASSERT_TRUE(body);
  EXPECT_EQ(body->at("a"), 3);
  EXPECT_EQ(body->size(), 2u);
}

}  // namespace
}  // namespace reprise
