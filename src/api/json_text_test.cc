#include "api/json_text.h"

#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

namespace reprise {
namespace {

namespace json = boost::json;

TEST(JsonText, NumbersReadAsPeopleWriteThem) {
  for (auto [number, text] : {std::pair{9.516, "9.516"},
                              {84.21, "84.21"},
                              {-0.2, "-0.2"},
                              {1.0, "1.0"},
                              {0.0, "0.0"},
                              {-9999.0, "-9999.0"},
                              {0.0001, "0.0001"}}) {
    EXPECT_EQ(json_text(json::value(number)), text);
  }
  EXPECT_EQ(json_text(json::value(int64_t{-7})), "-7");
  EXPECT_EQ(json_text(json::value(std::numeric_limits<uint64_t>::max())), "18446744073709551615");
  EXPECT_EQ(json_text(json::value(std::numeric_limits<double>::quiet_NaN())), "null");
  EXPECT_EQ(json_text(json::value(-std::numeric_limits<double>::infinity())), "null");
}

TEST(JsonText, EveryDoubleReadsBackTheSame) {
  for (double number : {1.0 / 3, 1e21, -1e-7, 5e-324, 1.7976931348623157e308, 123456789012345680.0,
                        static_cast<double>(-3.4295728f)}) {
    const std::string text = json_text(json::value(number));
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
    EXPECT_TRUE(json::parse(text).is_double()) << text;
  }
}

TEST(JsonText, EscapesOnlyWhatMustBe) {
  std::string text = "a\"b\\c/\n\r\t";
  text += '\0';
  text += "\x1f\x7f é 漢 🦊";
  EXPECT_EQ(json_text(json::value(text)), R"("a\"b\\c/\n\r\t\u0000\u001f)"
                                          "\x7f é 漢 🦊\"");
  EXPECT_EQ(json::parse(json_text(json::value(text))), json::value(text));
  EXPECT_EQ(json_text(json::value("")), "\"\"");
}

TEST(JsonText, WhatIsNoUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(json_text(json::value("a\xff\"\xe2\x82")), "\"a\uFFFD\\\"\uFFFD\"");
  EXPECT_EQ(json_text(json::value("\xed\xa0\x80z")), "\"\uFFFD\uFFFD\uFFFDz\"");
  EXPECT_EQ(json_text(json::object{{"\xc3", 1}}), "{\"\uFFFD\":1}");
}

TEST(JsonText, NestsAndKeepsTheOrderOfMembers) {
  const char* text = R"({"z":[1,[],{},[null,true,false]],"a":{"b\"":"c","d":0.5},"":[]})";
  EXPECT_EQ(json_text(json::parse(text)), text);
  EXPECT_EQ(json_text(json::parse(text).get_object()), text);
}

}  // namespace
}  // namespace reprise
