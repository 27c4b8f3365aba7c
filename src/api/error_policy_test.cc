#include "api/error_policy.h"

#include <gtest/gtest.h>

#include "api/session_key.h"

namespace reprise {
namespace {

namespace json = boost::json;

TEST(ErrorPolicy, ContextOverflowIsTheTextClientsRecognise) {
  Error error = context_overflow(131072, 150000, "messages");
  EXPECT_EQ(
      json::serialize(error_object(error)),
      R"({"error":{"message":"This model's maximum context length is 131072 tokens. However, your messages resulted in )"
      R"(150000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages",)"
      R"("code":"context_length_exceeded"}})");
  EXPECT_EQ(error_response(error).status, 400);
}

TEST(ErrorPolicy, EveryKindHasItsStatus) {
  const std::pair<ErrorKind, int> expected[] = {{ErrorKind::kInvalid, 400},    {ErrorKind::kUnsupported, 400},
                                                {ErrorKind::kTooLarge, 400},   {ErrorKind::kNotFound, 404},
                                                {ErrorKind::kOverloaded, 429}, {ErrorKind::kUnavailable, 503},
                                                {ErrorKind::kInternal, 500},   {ErrorKind::kCancelled, 500}};
  for (auto [kind, status] : expected) {
    http::Response response = error_response(Error{kind, "m", "p"});
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.headers.get("Retry-After").has_value(), status == 429 || status == 503);
  }
}

TEST(ErrorPolicy, RetryAfterIsTheQueueOverTheSpeedWithinBounds) {
  Stats stats;
  EXPECT_GE(retry_after_seconds(stats), 1) << "an unknown speed";
  EXPECT_LE(retry_after_seconds(stats), 60);
  stats.prefill_tokens_per_s = 1000;
  EXPECT_EQ(retry_after_seconds(stats), 1) << "an empty queue";
  stats.queued_tokens = 7500;
  EXPECT_EQ(retry_after_seconds(stats), 8);
  stats.queued_tokens = 1'000'000'000;
  EXPECT_EQ(retry_after_seconds(stats), 60);
  EXPECT_EQ(error_response(Error{ErrorKind::kOverloaded, "m", {}}, &stats).headers.get("Retry-After"), "60");
}

TEST(SessionKey, PrefersHeadersInTheirOrderOverTheBody) {
  http::Headers headers;
  EXPECT_EQ(session_key(headers, ""), 0u);
  const uint64_t body = session_key(headers, "body");
  EXPECT_NE(body, 0u);
  // From the weakest to the strongest: each new header changes the session.
  uint64_t before = body;
  for (const char* name : {"X-LiteLLM-Session-Id", "x-opencode-session", "x-session-affinity", "x-session-id",
                           "session_id", "thread-id", "Session-Id", "X-Claude-Code-Session-Id"}) {
    headers.set(name, name);
    const uint64_t session = session_key(headers, "body");
    EXPECT_NE(session, before) << name;
    before = session;
  }
  http::Headers other;
  other.set("x-session-id", "X-Claude-Code-Session-Id");
  EXPECT_EQ(session_key(other, ""), before) << "the same value is the same session";
}

}  // namespace
}  // namespace reprise
