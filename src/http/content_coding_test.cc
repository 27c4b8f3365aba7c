#include "http/content_coding.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace reprise::http {
namespace {

using ::testing::HasSubstr;
constexpr size_t kLimit = size_t{1} << 20;
BodyShare any;  // without a budget

std::string compressed(std::string_view text, bool gzip) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, gzip ? 15 + 16 : 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(ContentCoding, GivesTheBodyBack) {
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 1000, 65'536, 200'000, 1 << 20}) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random() % 7 + 'a');
    EXPECT_EQ(decode_content("gzip", compressed(text, true), kLimit, any).value(), text);
    EXPECT_EQ(decode_content("X-GZIP", compressed(text, true), kLimit, any).value(), text);
    EXPECT_EQ(decode_content("deflate", compressed(text, false), kLimit, any).value(), text);
    EXPECT_EQ(decode_content("", text, kLimit, any).value(), text);
    EXPECT_EQ(decode_content("identity", text, kLimit, any).value(), text);
  }
  EXPECT_EQ(decode_content("gzip", compressed("a", true) + compressed("b", true), kLimit, any).value(), "ab");
}

TEST(ContentCoding, StopsAtTheLimit) {
  const std::string bomb = compressed(std::string(64 << 20, '\0'), true);
  EXPECT_LT(bomb.size(), kLimit);
  const auto refused = decode_content("gzip", bomb, kLimit, any);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kTooLarge);
  EXPECT_TRUE(decode_content("gzip", compressed(std::string(kLimit, 'x'), true), kLimit, any));
  EXPECT_FALSE(decode_content("gzip", compressed(std::string(kLimit + 1, 'x'), true), kLimit, any));
}

TEST(ContentCoding, CountsWhatComesOutAgainstTheBudgetOfBodies) {
  const auto budget = std::make_shared<BodyBudget>(300'000);
  const std::string coded = compressed(std::string(200'000, 'x'), true);
  BodyShare share(budget);
  ASSERT_TRUE(share.grow_to(coded.size()));
  EXPECT_TRUE(decode_content("gzip", coded, kLimit, share));
  EXPECT_EQ(budget->held, 200'000u);
  {
    BodyShare another(budget);
    ASSERT_TRUE(another.grow_to(coded.size()));
    const auto refused = decode_content("gzip", coded, kLimit, another);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_EQ(budget->held, 200'000u);
  const BodyShare moved = std::move(share);
  EXPECT_EQ(budget->held, 200'000u);
  share = BodyShare();
  EXPECT_EQ(budget->held, 200'000u);
}

TEST(ContentCoding, RefusesWhatItCannotRead) {
  const auto kind = [](std::string_view coding, std::string body) {
    const auto result = decode_content(coding, std::move(body), kLimit, any);
    return result ? ErrorKind::kInternal : result.error().kind;
  };
  EXPECT_EQ(kind("br", "x"), ErrorKind::kUnsupported);
  EXPECT_EQ(kind("gzip, gzip", "x"), ErrorKind::kUnsupported);
  EXPECT_EQ(kind("gzip", "not gzip at all"), ErrorKind::kInvalid);
  EXPECT_EQ(kind("gzip", ""), ErrorKind::kInvalid);
  std::string whole = compressed("some text that is long enough to be cut", true);
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(kind("gzip", whole.substr(0, size)), ErrorKind::kInvalid) << size;
  }
  whole[whole.size() - 5] ^= 1;  // the checksum
  EXPECT_EQ(kind("gzip", whole), ErrorKind::kInvalid);
  EXPECT_THAT(decode_content("gzip", "", kLimit, any).error().message, HasSubstr("ends too early"));
}

}  // namespace
}  // namespace reprise::http
