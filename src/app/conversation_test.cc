#include "app/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using ::testing::HasSubstr;

TEST(Conversation, AsksWithItsHistoryAndOptions) {
  ChatOptions options;
  Conversation plain(options);
  EXPECT_EQ(plain.request("m", "say \"hi\""),
            R"({"model":"m","messages":[{"role":"user","content":"say \"hi\""}],"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
  options.system = "be brief";
  options.temperature = 0.5;
  options.max_tokens = 7;
  Conversation conversation(options);
  conversation.remember("one", "two");
  EXPECT_EQ(
      conversation.request("m", "three"),
      R"({"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"one"},)"
      R"({"role":"assistant","content":"two"},{"role":"user","content":"three"}],"stream":true,)"
      R"("stream_options":{"include_usage":true},"temperature":0.5,"max_tokens":7})");
  conversation.clear();
  EXPECT_THAT(conversation.request("m", "three"), Not(HasSubstr("one")));
}

TEST(Conversation, ReadsStreamPieces) {
  const auto text =
      parse_piece(R"({"choices":[{"delta":{"content":"h\u00e4"},"finish_reason":null}],"usage":null})");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->text, "h\xC3\xA4");
  EXPECT_EQ(text->finish_reason, "");
  EXPECT_FALSE(text->output_tokens);
  const auto reasoning = parse_piece(R"({"choices":[{"delta":{"reasoning_content":"hm","content":null}}]})");
  EXPECT_EQ(reasoning->reasoning, "hm");
  EXPECT_EQ(reasoning->text, "");
  const auto usage = parse_piece(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,)"
                                 R"("prompt_tokens_details":{"cached_tokens":8}}})");
  EXPECT_EQ(usage->prompt_tokens, 9u);
  EXPECT_EQ(usage->output_tokens, 4u);
  EXPECT_EQ(usage->cached_tokens, 8u);
  EXPECT_EQ(parse_piece(R"({"error":{"message":"no room"}})").error().message, "no room");
  // Odd answers of other servers are no reason to crash.
  for (const char* odd :
       {"1", "[]", R"({"choices":7})", R"({"choices":[3]})", R"({"choices":[{"delta":[]}]})",
        R"({"usage":{"prompt_tokens":-1,"completion_tokens":1e99}})"}) {
    const auto piece = parse_piece(odd);
    ASSERT_TRUE(piece) << odd;
    EXPECT_EQ(piece->text, "");
    EXPECT_FALSE(piece->prompt_tokens);
  }
  EXPECT_FALSE(parse_piece("{"));
}

TEST(Conversation, FindsTheMessageOfAnError) {
  EXPECT_EQ(error_message(429, R"({"error":{"message":"busy","type":"x"}})"), "busy");
  EXPECT_EQ(error_message(400, R"({"error":"short"})"), "short");
  EXPECT_EQ(error_message(400, R"({"detail":"other"})"), "other");
  EXPECT_EQ(error_message(502, "<html>\nmore"), "the server answered 502: <html>");
  EXPECT_EQ(error_message(502, ""), "the server answered 502");
}

TEST(Conversation, SaysHowFastItWas) {
  Speed speed;
  EXPECT_EQ(speed_line(speed), "no tokens");
  speed.sent = 5 * kSecond;
  speed.first = speed.last = speed.sent + 310 * kMillisecond;
  speed.pieces = 1;
  EXPECT_EQ(speed_line(speed), "0.31 s to first token, 1 token");
  speed.last = speed.first + 2 * kSecond;
  speed.pieces = 11;
  EXPECT_EQ(speed_line(speed), "0.31 s to first token, 11 tokens at 5.0 tokens/s");
  speed.output_tokens = 21;  // a piece may hold several tokens: usage counts
  speed.prompt_tokens = 512;
  EXPECT_EQ(speed_line(speed), "0.31 s to first token, 21 tokens at 10.0 tokens/s, prompt 512 tokens");
  speed.cached_tokens = 480;
  EXPECT_THAT(speed_line(speed), HasSubstr("prompt 512 tokens (480 cached)"));
}

TEST(Conversation, KeepsControlCharactersFromTheTerminal) {
  EXPECT_EQ(for_terminal("a\tb\nc\xC3\xA4\xF0\x9F\x98\x80"), "a\tb\nc\xC3\xA4\xF0\x9F\x98\x80");
  EXPECT_EQ(for_terminal("\x1b[31mred\a\x7f"), "\xEF\xBF\xBD[31mred\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(for_terminal("\xC2\x9B"
                         "31m\xC2\xA0"),
            "\xEF\xBF\xBD"
            "31m\xC2\xA0");
  EXPECT_EQ(for_terminal("a\r\nb"), "a\nb");
}

}  // namespace
}  // namespace reprise
