#include "http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/headers.h"

namespace reprise::http {
namespace {

using ::testing::HasSubstr;

TEST(Url, ParsesOrSaysWhy) {
  const struct {
    std::string text, host;
    int port;
    std::string path;
  } good[] = {{"http://127.0.0.1:8000", "127.0.0.1", 8000, ""},
              {"localhost:8000", "localhost", 8000, ""},
              {"HTTP://Host/", "Host", 80, ""},
              {"http://[::1]:9/v1/", "::1", 9, "/v1"},
              {"[::1]", "::1", 80, ""},
              {"http://h:65535/a/b", "h", 65535, "/a/b"}};
  for (const auto& [text, host, port, path] : good) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error().message;
    EXPECT_EQ(url->host, host);
    EXPECT_EQ(url->port, port);
    EXPECT_EQ(url->path, path);
  }
  for (const char* text : {"", "http://", "http://a b", "https://a", "ftp://a", "http://a:0",
                           "http://a:99999", "http://a:+1", "http://u:p@a", "http://a?x", "http://a/?x",
                           "http://a:x", "http://[::1", "http://[::1]x", "http://:80"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
  EXPECT_THAT(parse_url("https://a").error().message, HasSubstr("only http://"));
}

TEST(Target, SplitsAndDecodes) {
  const struct {
    std::string target, path, query;
  } good[] = {{"/", "/", ""},
              {"/a%20b%2F+c?x=%20&y", "/a b/+c", "x=%20&y"},
              {"//double", "//double", ""},
              {"/a?b?c", "/a", "b?c"},
              {"http://host:80/p?q", "/p", "q"},
              {"http://host", "/", ""},
              {"http://host?q", "/", "q"},
              {"*", "*", ""}};
  for (const auto& [target, path, query] : good) {
    const auto parsed = parse_target(target);
    ASSERT_TRUE(parsed) << target;
    EXPECT_EQ(parsed->path, path);
    EXPECT_EQ(parsed->query, query);
  }
  for (const char* target : {"", "a/b", "/%", "/%1", "/%zz", "/a b", "/a#b", "/\x01", "?x", "a/b://c"}) {
    EXPECT_FALSE(parse_target(target)) << target;
  }
}

TEST(Target, FindsQueryValues) {
  EXPECT_EQ(query_value("a=1&b=%C3%A4+x&a=2&c&d=", "a"), "1");
  EXPECT_EQ(query_value("a=1&b=%C3%A4+x&a=2&c&d=", "b"), "\xC3\xA4 x");
  EXPECT_EQ(query_value("a=1&b=2&c&d=", "c"), "");
  EXPECT_EQ(query_value("a=1&b=2&c&d=", "d"), "");
  EXPECT_EQ(query_value("a=1&b=%z", "b"), std::nullopt);
  EXPECT_EQ(query_value("a=1", "x"), std::nullopt);
  EXPECT_EQ(query_value("", ""), std::nullopt);
}

TEST(Headers, CompareWithoutCase) {
  Headers headers;
  headers.set("Content-Type", "a").add("Accept", "x, Y ,z").add("accept", "w");
  headers.set("content-type", "b");
  EXPECT_EQ(headers.size(), 3u);
  EXPECT_EQ(headers.get("CONTENT-TYPE"), "b");
  EXPECT_EQ(headers.get("none"), std::nullopt);
  EXPECT_TRUE(headers.has_token("Accept", "y"));
  EXPECT_TRUE(headers.has_token("Accept", "W"));
  EXPECT_FALSE(headers.has_token("Accept", "x, Y"));
}

}  // namespace
}  // namespace reprise::http
