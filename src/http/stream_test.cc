// Streamed answers over real sockets: framing, disconnects, back-pressure, thousands of idle streams,
// stopping.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "http/async_event.h"
#include "http/raw_socket.h"
#include "http/server.h"
#include "http/sse.h"

namespace reprise::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

std::unique_ptr<Server> start(Handler handler, ServerOptions options = {}) {
  auto server = Server::start(std::move(options), std::move(handler));
  CHECK(server.has_value(), "{}", server.error().message);
  return std::move(*server);
}

// Waits far longer than it should ever take; false means that it did not happen.
bool happens(const std::function<bool()>& condition) {
  for (int i = 0; i < 4000; ++i) {
    if (condition()) return true;
    usleep(5000);
  }
  return false;
}

// Streams until its client goes; counts how handlers ended.
struct Endless {
  AsyncEvent stop;  // stop.set() wakes one waiting handler
  std::atomic<int> started = 0, gone = 0, ended = 0;

  asio::awaitable<void> operator()(Request, Exchange& exchange) {
    Headers headers;
    headers.set("Content-Type", "text/event-stream");
    exchange.begin(200, headers);
    const std::string first = sse_data("hello");
    co_await exchange.write(first);
    const AsyncEvent wake;
    exchange.on_gone([this, wake] {
      ++gone;
      wake.set();
    });
    ++started;
    while (!exchange.gone()) co_await wake.wait();
    const bool written = co_await exchange.write("after the end");
    EXPECT_FALSE(written);
    ++ended;
  }
  Handler handler() {
    return [this](Request request, Exchange& exchange) { return (*this)(std::move(request), exchange); };
  }
};

asio::awaitable<void> count_to_three(Request request, Exchange& exchange) {
  Headers headers;
  headers.set("Content-Type", "text/event-stream");
  exchange.begin(200, headers);
  for (int i = 1; i <= 3; ++i) {
    const std::string event = sse_data(std::to_string(i));
    co_await exchange.write(event);
  }
  if (request.path != "/cut") exchange.end();
}

TEST(Stream, IsChunkedAndTheConnectionServesOn) {
  auto server = start(count_to_three);
  RawSocket socket(server->port());
  for (int i = 0; i < 2; ++i) {
    socket.send(kGet);
    const std::string answer = socket.read_until("\r\n0\r\n\r\n");
    EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
    EXPECT_THAT(answer,
                EndsWith("\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\n"));
  }
}

TEST(Stream, EndsByClosingForHttp10AndIsEmptyForHead) {
  auto server = start(count_to_three);
  RawSocket old(server->port());
  old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string answer = old.read_all();
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_THAT(answer, EndsWith("Connection: close\r\n\r\ndata: 1\n\ndata: 2\n\ndata: 3\n\n"));
  RawSocket head(server->port());
  head.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  head.read_until("\r\n\r\n");
  head.send(kGet);
  EXPECT_THAT(head.read_until("\r\n0\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Stream, LeftByItsHandlerIsCutNotCompleted) {
  auto server = start(count_to_three);
  RawSocket socket(server->port());
  socket.send("GET /cut HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(socket.read_all(), EndsWith("data: 3\n\n\r\n"));
}

TEST(Stream, NoticesClientsThatCloseWhileNothingIsWritten) {
  Endless endless;
  auto server = start(endless.handler());
  RawSocket closing(server->port()), resetting(server->port()), staying(server->port());
  for (RawSocket* socket : {&closing, &resetting, &staying}) {
    socket->send(kGet);
    socket->read_until("hello\n\n");
  }
  ASSERT_TRUE(happens([&] { return endless.started == 3; }));
  closing.close();
  EXPECT_TRUE(happens([&] { return endless.ended == 1; }));
  resetting.reset();
  EXPECT_TRUE(happens([&] { return endless.ended == 2; }));
  EXPECT_EQ(endless.gone, 2);
  // A connection goes only after its handler has ended.
  EXPECT_TRUE(happens([&] { return server->stats().connections == 1; }));
}

TEST(Stream, NoticesClosingBehindPipelinedRequests) {
  Endless endless;
  auto server = start(endless.handler());
  RawSocket few(server->port()), many(server->port());
  few.send(std::string(kGet) + std::string(kGet));
  few.read_until("hello\n\n");
  ASSERT_TRUE(happens([&] { return endless.started == 1; }));
  few.close();
  EXPECT_TRUE(happens([&] { return endless.ended == 1; }));
  // More than the server keeps of later requests: it stops reading, a reset is noticed all the same.
  many.send(std::string(kGet) + std::string(200'000, 'x'));
  many.read_until("hello\n\n");
  ASSERT_TRUE(happens([&] { return endless.started == 2; }));
  many.reset();
  EXPECT_TRUE(happens([&] { return endless.ended == 2; }));
}

TEST(Stream, AnswersAClientThatOnlyStoppedSending) {
  auto server = start([](Request, Exchange& exchange) -> asio::awaitable<void> {
    const AsyncEvent never;
    co_await never.wait(20 * kMillisecond);  // long enough for the end to be seen
    Response response;
    response.body = "still here";
    exchange.respond(std::move(response));
  });
  RawSocket socket(server->port());
  socket.send(std::string(kGet) + std::string(kGet));
  socket.end_sending();
  const std::string answers = socket.read_all();
  EXPECT_THAT(answers, EndsWith("still here"));
  EXPECT_NE(answers.find("still here"), answers.rfind("still here"));
}

TEST(Stream, CallsOnGoneAtOnceWhenTheClientHasGoneBefore) {
  std::promise<bool> called;
  auto server = start([&](Request, Exchange& exchange) -> asio::awaitable<void> {
    const AsyncEvent wake;
    exchange.on_gone([wake] { wake.set(); });
    co_await wake.wait();
    bool now = false;
    exchange.on_gone([&now] { now = true; });
    called.set_value(now);
  });
  RawSocket socket(server->port());
  socket.send(kGet);
  socket.close();
  EXPECT_TRUE(called.get_future().get());
}

TEST(Stream, WaitsForASlowReader) {
  constexpr size_t kPiece = 64 << 10, kPieces = 1024;
  std::atomic<size_t> written = 0;
  std::atomic<bool> finished = false;
  auto server = start(
      [&](Request, Exchange& exchange) -> asio::awaitable<void> {
        exchange.begin(200, Headers());
        const std::string piece(kPiece, 'x');
        for (size_t i = 0; i < kPieces; ++i) {
          const bool there = co_await exchange.write(piece);
          if (!there) co_return;
          ++written;
        }
        exchange.end();
        finished = true;
      },
      {.write_buffer = 128 << 10});
  RawSocket socket(server->port(), /*receive_buffer=*/16 << 10);
  socket.send(kGet);
  // The handler gets stuck once the kernel's buffers and ours are full, long before all is written.
  size_t last = 0;
  ASSERT_TRUE(happens([&] {
    const size_t before = std::exchange(last, written.load());
    usleep(100'000);
    return last > 0 && last == before && written == last;
  }));
  EXPECT_LT(written, kPieces / 2);
  EXPECT_FALSE(finished);
  const std::string answer = socket.read_until("\r\n0\r\n\r\n");
  EXPECT_GT(answer.size(), kPiece * kPieces);
  EXPECT_TRUE(happens([&] { return finished.load(); }));
}

TEST(Stream, GivesUpOnAReaderThatTakesNothing) {
  std::atomic<bool> ended = false;
  auto server = start(
      [&](Request, Exchange& exchange) -> asio::awaitable<void> {
        exchange.begin(200, Headers());
        const std::string piece(1 << 20, 'x');
        while (true) {
          const bool there = co_await exchange.write(piece);
          if (!there) break;
        }
        ended = true;
      },
      {.write_timeout = 300 * kMillisecond});
  RawSocket socket(server->port(), 16 << 10);
  socket.send(kGet);
  EXPECT_TRUE(happens([&] { return ended.load(); }));
}

TEST(Stream, HoldsThousandsOfIdleStreams) {
  constexpr int kStreams = 2500;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  ASSERT_GE(files.rlim_cur, 2u * kStreams + 100) << "the hard limit on open files is too low for this test";

  Endless endless;
  auto server = start(endless.handler());
  std::vector<RawSocket> sockets;
  for (int i = 0; i < kStreams; ++i) {
    sockets.emplace_back(server->port());
    sockets.back().send(kGet);
  }
  for (auto& socket : sockets) EXPECT_THAT(socket.read_until("hello\n\n"), EndsWith("data: hello\n\n"));
  ASSERT_TRUE(happens([&] { return endless.started == kStreams; }));
  EXPECT_EQ(server->stats().exchanges, static_cast<uint64_t>(kStreams));
  sockets.clear();
  EXPECT_TRUE(happens([&] { return endless.ended == kStreams; }));
  EXPECT_TRUE(happens([&] { return server->stats().connections == 0; }));
}

TEST(Stop, LetsRunningExchangesEndAndClosesIdleConnections) {
  const AsyncEvent go;
  std::atomic<bool> begun = false;
  auto server = start([&](Request request, Exchange& exchange) -> asio::awaitable<void> {
    if (request.path == "/quick") {
      exchange.respond({});
      co_return;
    }
    exchange.begin(200, Headers());
    const std::string first = "first", second = "second";
    co_await exchange.write(first);
    begun = true;
    co_await go.wait();
    co_await exchange.write(second);
    exchange.end();
  });
  RawSocket idle(server->port()), running(server->port());
  idle.send("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.read_until("\r\n\r\n");
  running.send(kGet);
  ASSERT_TRUE(happens([&] { return begun.load(); }));
  const uint16_t port = server->port();
  std::thread stopping([&] { server->stop(60 * kSecond); });
  EXPECT_EQ(idle.read_all(), "");
  go.set();
  EXPECT_THAT(running.read_all(), EndsWith("5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n"));
  running.close();
  stopping.join();
  EXPECT_FALSE(RawSocket(port).connected());
}

TEST(Stop, CutsOffWhatOutlivesTheGrace) {
  Endless endless;
  auto server = start(endless.handler());
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 20; ++i) {
    sockets.emplace_back(server->port());
    sockets.back().send(kGet);
  }
  ASSERT_TRUE(happens([&] { return endless.started == 20; }));
  server->stop(50 * kMillisecond);
  EXPECT_EQ(endless.ended, 20);
  EXPECT_THAT(sockets[0].read_all(), Not(HasSubstr("\r\n0\r\n")));
}

TEST(AsyncEvent, WakesTimesOutAndRemembersOneSet) {
  asio::thread_pool pool(2);
  auto wait = [](AsyncEvent event, std::optional<Nanos> timeout) -> asio::awaitable<bool> {
    const bool set = co_await event.wait(timeout);
    co_return set;
  };
  const AsyncEvent event;
  auto run = [&](std::optional<Nanos> timeout) {
    return asio::co_spawn(pool, wait(event, timeout), asio::use_future);
  };
  EXPECT_FALSE(run(kMillisecond).get());
  event.set();
  event.set();
  EXPECT_TRUE(run(std::nullopt).get());
  EXPECT_FALSE(run(kMillisecond).get());
  auto waiting = run(std::nullopt);
  usleep(1000);
  event.set();
  EXPECT_TRUE(waiting.get());
}

TEST(AsyncEvent, LosesNoWakeUpBetweenThreads) {
  asio::thread_pool pool(3);
  constexpr int kRounds = 20'000;
  const AsyncEvent ping, pong;
  std::atomic<int> timeouts = 0;
  auto side = [&timeouts](AsyncEvent mine, AsyncEvent other) -> asio::awaitable<int> {
    int rounds = 0;
    for (; rounds < kRounds; ++rounds) {
      other.set();
      // Timeouts now and then race with the set; a wait that timed out is repeated.
      bool set = false;
      while (!set) {
        set = co_await mine.wait(rounds % 3 == 0 ? 5 * kMicrosecond : 30 * kSecond);
        if (!set) ++timeouts;
      }
    }
    other.set();
    co_return rounds;
  };
  auto one = asio::co_spawn(pool, side(ping, pong), asio::use_future);
  auto two = asio::co_spawn(pool, side(pong, ping), asio::use_future);
  EXPECT_EQ(one.get(), kRounds);
  EXPECT_EQ(two.get(), kRounds);
}

}  // namespace
}  // namespace reprise::http
