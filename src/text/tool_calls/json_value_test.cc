#include "text/tool_calls/json_value.h"

#include <random>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace reprise::calls {
namespace {
namespace json = boost::json;

std::string mended(std::string_view text, size_t cut = std::string_view::npos) {
  Collected out;
  JsonReader reader(out);
  reader.take(text.substr(0, cut));
  if (cut < text.size()) reader.take(text.substr(cut));
  reader.close();
  return out.text;
}

void expect_object(const std::string& text, std::string_view input) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 1000;
  const json::value value = json::parse(text, error, {}, options);
  EXPECT_FALSE(error) << input << "\n-> " << text;
  EXPECT_TRUE(!error && value.is_object()) << input << "\n-> " << text;
}

TEST(JsonReader, PassesValidObjectsOnWithoutWhiteSpace) {
  EXPECT_EQ(mended(R"( { "a" : [ 1 , -2.5e3, "x y" , { } , [ ] ] , "b" : null, "c":true } )"),
            R"({"a":[1,-2.5e3,"x y",{},[]],"b":null,"c":true})");
  EXPECT_EQ(mended(R"({"e":"\u00e9\n\"\\\/ \ud83d\ude00"})"), R"({"e":"\u00e9\n\"\\\/ \ud83d\ude00"})");
}

struct Mistake {
  std::string_view text, mended;
};
TEST(JsonReader, MendsWhatItCan) {
  for (const auto& [text, expected] : {
           Mistake{"", "{}"},
           Mistake{"null", "{}"},
           Mistake{"None ", "{}"},
           Mistake{"nothing", "{}"},
           Mistake{"[1]", "{}"},
           Mistake{"{", "{}"},
           Mistake{R"({"a)", R"({"a":null})"},
           Mistake{R"({"a")", R"({"a":null})"},
           Mistake{R"({"a":)", R"({"a":null})"},
           Mistake{R"({"a":tr)", R"({"a":"tr"})"},
           Mistake{R"({"a":1)", R"({"a":1})"},
           Mistake{R"({"a":-)", R"({"a":"-"})"},
           Mistake{R"({"a":[1,)", R"({"a":[1]})"},
           Mistake{R"({"a":[{"b":"c)", R"({"a":[{"b":"c"}]})"},
           Mistake{R"({"a":1,})", R"({"a":1})"},
           Mistake{R"({,"a":1,,"b":2})", R"({"a":1,"b":2})"},
           Mistake{R"({"a":1 "b":2})", R"({"a":1,"b":2})"},
           Mistake{R"({"a":,"b":})", R"({"a":null,"b":null})"},
           Mistake{R"({'a': 'b"c\'d'})", R"({"a":"b\"c'd"})"},
           Mistake{R"({a: True, b : False, c: None, d: abc})", R"({"a":true,"b":false,"c":null,"d":"abc"})"},
           Mistake{"{\"a\":\"x\n\ty\x01\"}", R"({"a":"x\n\ty\u0001"})"},
           Mistake{R"({"a":"\d+\.\u12 \ud83d \ud83dx \ude00"})",
                   R"({"a":"\\d+\\.\\u12 \ufffd \ufffdx \ufffd"})"},
           Mistake{R"({"a":"\ud83d)", R"({"a":"\ufffd"})"},
           Mistake{R"({"a":"\)", R"({"a":""})"},
           Mistake{R"({"a":"\u00)", R"({"a":"\\u00"})"},
           Mistake{R"({"a":[1}})", R"({"a":[1]})"},
           Mistake{R"("{\"a\": \"b\\\"c\", \"d\": 1}")", R"({"a":"b\"c","d":1})"},
           Mistake{R"("{\u0022a\u0022: \"\u00e9\"}")", R"({"a":"\u00e9"})"},
           Mistake{R"("{\"a\": \"b)", R"({"a":"b"})"},
           Mistake{R"({"a":01,"b":1.,"c":+1,"d":.5})", R"({"a":"01","b":"1.","c":"+1","d":".5"})"},
           Mistake{R"({"a":1e400,"b":1e-400,"c":12345678901234567890123})",
                   R"({"a":"1e400","b":1e-400,"c":12345678901234567890123})"},
       }) {
    expect_object(std::string(expected), text);
    for (size_t cut = 0; cut <= text.size(); ++cut)
      EXPECT_EQ(mended(text, cut), expected) << text << ", cut at " << cut;
  }
}

TEST(JsonReader, TakesNothingBehindTheValue) {
  Collected out;
  JsonReader object(out);
  EXPECT_EQ(object.take("{\"a\":1}}\n"), 7u);
  EXPECT_TRUE(object.complete());
  JsonReader number(out, JsonReader::Wanted::kAny);
  EXPECT_EQ(number.take("12,"), 2u);
  EXPECT_TRUE(number.complete());
  JsonReader text(out, JsonReader::Wanted::kAny);
  EXPECT_EQ(text.take("\"a\":"), 3u);
}

TEST(JsonReader, IsAtAnyTimeTheBeginningOfAValidObject) {
  std::mt19937 random(3);
  constexpr std::string_view kLetters = "{}[]\"':, \\\n\tu0d8eaTrunl1.-\xFF";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 ? "{\"a\":" : "";
    for (size_t size = random() % 24; size > 0; --size) text += kLetters[random() % kLetters.size()];
    std::string at_once = mended(text);
    expect_object(at_once, text);
    Collected out;
    JsonReader reader(out);
    size_t taken = 0;
    for (; taken < text.size(); ++taken) {
      if (reader.take(std::string_view(text).substr(taken, 1)) == 0) break;
      ASSERT_TRUE(at_once.starts_with(out.text)) << text;
    }
    reader.close();
    ASSERT_EQ(out.text, at_once) << text;
  }
}

TEST(JsonReader, ClosesWhatIsNestedTooDeeply) {
  std::string text = "{\"a\":";
  for (int i = 0; i < 5000; ++i) text += "[";
  expect_object(mended(text), "deep arrays");
  text.clear();
  for (int i = 0; i < 5000; ++i) text += "{\"a\":";
  expect_object(mended(text), "deep objects");
}

}  // namespace
}  // namespace reprise::calls
