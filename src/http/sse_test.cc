#include "http/sse.h"

#include <vector>

#include <gtest/gtest.h>

namespace reprise::http {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events parse(std::string_view bytes, size_t piece) {
  Events events;
  SseParser parser;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const auto fed = parser.feed(bytes.substr(at, piece),
                                 [&](SseEvent event) { events.emplace_back(event.name, event.data); });
    EXPECT_TRUE(fed);
  }
  return events;
}

TEST(Sse, FormatsEvents) {
  EXPECT_EQ(sse_data("{\"a\":1}"), "data: {\"a\":1}\n\n");
  EXPECT_EQ(sse_data("a\nb\r\nc"), "data: a\ndata: b\ndata: c\n\n");
  EXPECT_EQ(sse_event("ping", "{}"), "event: ping\ndata: {}\n\n");
  EXPECT_EQ(sse_comment("keep-alive"), ": keep-alive\n\n");
}

TEST(Sse, ParsesUnderEveryChunking) {
  const std::string stream =
      "\xEF\xBB\xBF: comment\n\ndata: one\n\nevent: ping\ndata:{}\nid: 7\nretry: 10\n\r\n"
      "data: a\r\ndata: b\r\n\r\ndata: c\r\rdata\n\nevent: nothing\n\ndata:  x\n\ndata: unfinished\n";
  const Events expected = {{"message", "one"}, {"ping", "{}"},  {"message", "a\nb"},
                           {"message", "c"},   {"message", ""}, {"message", " x"}};
  for (size_t piece = 1; piece <= stream.size(); ++piece) EXPECT_EQ(parse(stream, piece), expected) << piece;
}

TEST(Sse, ReadsBackWhatItWrites) {
  const std::string text = "line\n\nline: \xC3\xA4 {\"x\": [1]}";
  const Events expected = {{"delta", text}};
  EXPECT_EQ(parse(sse_comment("c") + sse_event("delta", text), 3), expected);
}

TEST(Sse, RefusesEventsWithoutBound) {
  SseParser parser(1000);
  const auto ignore = [](SseEvent) {};
  EXPECT_TRUE(parser.feed("data: " + std::string(900, 'x') + "\n\n", ignore));
  EXPECT_TRUE(parser.feed("data: " + std::string(900, 'x') + "\n\n", ignore));
  EXPECT_TRUE(parser.feed("data: " + std::string(600, 'x') + "\n", ignore));
  EXPECT_FALSE(parser.feed("data: " + std::string(600, 'x') + "\n", ignore));
}

}  // namespace
}  // namespace reprise::http
