#include "http/client.h"

#include <atomic>

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "http/async_event.h"
#include "http/server.h"

namespace reprise::http {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Server> start(Handler handler, ServerOptions options = {}) {
  auto server = Server::start(std::move(options), std::move(handler));
  CHECK(server.has_value(), "{}", server.error().message);
  return std::move(*server);
}

asio::awaitable<void> serve(Request request, Exchange& exchange) {
  if (request.path == "/v1/plain") {
    Response response;
    response.status = 418;
    response.headers.set("X-Test", "yes");
    response.body = request.body;
    exchange.respond(std::move(response));
    co_return;
  }
  exchange.begin(200, Headers());
  for (int i = 0; i < 5; ++i) {
    const std::string piece = fmt::format("<{}>", i);
    const bool there = co_await exchange.write(piece);
    if (!there) co_return;
  }
  if (request.path == "/v1/cut") co_return;
  if (request.path == "/v1/hang") {
    const AsyncEvent gone;
    exchange.on_gone([gone] { gone.set(); });
    co_await gone.wait();
    co_return;
  }
  exchange.end();
}

// The body, or the error's message.
asio::awaitable<std::string> get(Client& client, std::string target) {
  ClientRequest request{.target = std::move(target)};
  auto head = co_await client.send(std::move(request));
  if (!head) co_return "error: " + head.error().message;
  std::string body;
  while (true) {
    auto piece = co_await client.read();
    if (!piece) co_return body + " error: " + piece.error().message;
    if (piece->empty()) co_return body;
    body += *piece;
  }
}

void run(asio::io_context& context, asio::awaitable<void> test) {
  asio::co_spawn(context, std::move(test), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
}

TEST(Client, ReadsSizedStreamedAndCutAnswersOverOneConnection) {
  auto server = start(serve);
  asio::io_context context;
  Client client(context.get_executor(), *parse_url(fmt::format("localhost:{}/v1", server->port())));
  run(context, [&]() -> asio::awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      const std::string streamed = co_await get(client, "/stream");
      EXPECT_EQ(streamed, "<0><1><2><3><4>");
      const std::string plain = co_await get(client, "/plain");
      EXPECT_EQ(plain, "");
    }
    EXPECT_EQ(server->stats().accepted, 1u);
    const std::string cut = co_await get(client, "/cut");
    EXPECT_THAT(cut, HasSubstr("<4> error: http://localhost:"));
    EXPECT_THAT(cut, HasSubstr("closed the connection before the answer was complete"));
    const std::string after = co_await get(client, "/stream");
    EXPECT_EQ(after, "<0><1><2><3><4>");
  }());
}

TEST(Client, ReplacesAKeptConnectionThatWasClosed) {
  auto server = start(serve, {.idle_timeout = 20 * kMillisecond});
  asio::io_context context;
  Client client(context.get_executor(), *parse_url(fmt::format("127.0.0.1:{}/v1", server->port())));
  run(context, [&]() -> asio::awaitable<void> {
    asio::steady_timer pause(context);
    for (int i = 0; i < 3; ++i) {
      const std::string body = co_await get(client, "/stream");
      EXPECT_EQ(body, "<0><1><2><3><4>");
      while (server->stats().connections > 0) {
        pause.expires_after(std::chrono::milliseconds(5));
        co_await pause.async_wait(asio::use_awaitable);
      }
    }
  }());
  EXPECT_EQ(server->stats().accepted, 3u);
}

TEST(Client, CancelsAPendingReadAndGoesOn) {
  auto server = start(serve);
  asio::io_context context;
  Client client(context.get_executor(), *parse_url(fmt::format("127.0.0.1:{}/v1", server->port())));
  run(context, [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, std::chrono::milliseconds(50));
    timer.async_wait([&](boost::system::error_code) { client.close(); });
    const std::string body = co_await get(client, "/hang");
    EXPECT_EQ(body, "<0><1><2><3><4> error: the request was cancelled");
    const std::string after = co_await get(client, "/stream");
    EXPECT_EQ(after, "<0><1><2><3><4>");
  }());
}

TEST(Client, CanBeClosedAtAnyStep) {
  auto server = start(serve);
  bool complete = false;
  for (int steps = 1; !complete; ++steps) {  // the first one begins to send
    ASSERT_LT(steps, 200);
    asio::io_context context;
    Client client(context.get_executor(), *parse_url(fmt::format("127.0.0.1:{}/v1", server->port())));
    std::string body = "never ended";
    asio::co_spawn(
        context, [&]() -> asio::awaitable<void> { body = co_await get(client, "/stream"); },
        [](std::exception_ptr error) { EXPECT_FALSE(error); });
    for (int i = 0; i < steps; ++i) context.run_one_for(std::chrono::seconds(10));
    client.close();
    context.restart();
    context.run();
    complete = body == "<0><1><2><3><4>";
    if (complete) break;
    EXPECT_THAT(body, ::testing::EndsWith("error: the request was cancelled")) << "after step " << steps;
  }
}

TEST(Client, SaysWhatFailed) {
  uint16_t port;
  {
    auto server = start(serve);
    port = server->port();
    ClientRequest request{.method = "POST", .target = "/v1/plain", .body = "text"};
    const auto answer = fetch(*parse_url(fmt::format("127.0.0.1:{}", port)), std::move(request));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 418);
    EXPECT_EQ(answer->headers.get("x-test"), "yes");
    EXPECT_EQ(answer->body, "text");
    ClientRequest hang{.target = "/v1/hang"};
    const auto silent = fetch(*parse_url(fmt::format("127.0.0.1:{}", port)), std::move(hang),
                              {.read_timeout = 50 * kMillisecond});
    ASSERT_FALSE(silent);
    EXPECT_THAT(silent.error().message, HasSubstr("has been silent"));
  }
  const auto refused = fetch(*parse_url(fmt::format("127.0.0.1:{}", port)), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("Connection refused"));
}

}  // namespace
}  // namespace reprise::http
