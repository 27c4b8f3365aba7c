// Requests and whole answers over real sockets: framing, keep-alive, limits, malformed input, timeouts.
#include "http/server.h"

#include <atomic>

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "http/client.h"
#include "http/raw_socket.h"

namespace reprise::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Answers with what it received: method, path, query, body length and body.
asio::awaitable<void> echo(Request request, Exchange& exchange) {
  if (request.path == "/throw") throw std::runtime_error("on purpose");
  if (request.path == "/silent") co_return;
  if (request.path == "/empty") {
    Response nothing;
    nothing.status = 204;
    exchange.respond(std::move(nothing));
    co_return;
  }
  Response response;
  response.headers.set("Content-Type", "text/plain");
  if (const auto name = request.query_param("name")) response.headers.set("X-Name", *name);
  response.body =
      fmt::format("{} {} [{}] {} ", request.method, request.path, request.query, request.body.size());
  response.body += request.body;
  exchange.respond(std::move(response));
}

std::unique_ptr<Server> start(ServerOptions options = {}, Handler handler = echo) {
  auto server = Server::start(std::move(options), std::move(handler));
  CHECK(server.has_value(), "{}", server.error().message);
  return std::move(*server);
}

// Reads one sized answer: head and body.
std::string read_answer(RawSocket& socket) {
  std::string answer = socket.read_until("\r\n\r\n");
  const size_t at = answer.find("Content-Length: ");
  if (at != std::string::npos) answer += socket.read_exactly(std::stoul(answer.substr(at + 16)));
  return answer;
}

std::string once(uint16_t port, std::string_view bytes) {
  RawSocket socket(port);
  socket.send(bytes);
  return socket.read_all();
}

TEST(Server, AnswersAndKeepsTheConnection) {
  auto server = start();
  RawSocket socket(server->port());
  for (int i = 0; i < 3; ++i) {
    socket.send("GET /a%20b?x=1&name=J%C3%B6rg HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string answer = read_answer(socket);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("X-Name: J\xC3\xB6rg\r\n"));
    EXPECT_THAT(answer, HasSubstr("Date: "));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nGET /a b [x=1&name=J%C3%B6rg] 0 "));
    EXPECT_THAT(answer, Not(HasSubstr("Connection:")));
  }
  EXPECT_EQ(server->stats().accepted, 1u);
  EXPECT_EQ(server->stats().requests, 3u);
}

TEST(Server, ClosesWhenAsked) {
  auto server = start();
  const std::string answer = once(server->port(), "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("GET / [] 0 "));
}

TEST(Server, SpeaksHttp10) {
  auto server = start();
  EXPECT_THAT(once(server->port(), "GET / HTTP/1.0\r\n\r\n"), EndsWith("GET / [] 0 "));
  RawSocket socket(server->port());
  for (int i = 0; i < 2; ++i) {
    socket.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(read_answer(socket), HasSubstr("Connection: keep-alive\r\n"));
  }
}

TEST(Server, BodiesShareABudgetUntilTheirHandlersEnd) {
  std::atomic<bool> go = false;
  auto server =
      start({.max_bodies = 1000}, [&go](Request request, Exchange& exchange) -> asio::awaitable<void> {
        const bool dropped = request.path == "/drop";
        if (dropped) request.drop_body();
        asio::steady_timer pause(co_await asio::this_coro::executor);
        while (!go && request.path != "/now") {
          pause.expires_after(std::chrono::milliseconds(1));
          co_await pause.async_wait(asio::use_awaitable);
        }
        exchange.respond({});
      });
  const auto post = [](std::string_view path, size_t bytes) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                       path, bytes, std::string(bytes, 'x'));
  };
  const auto wait_for = [&](uint64_t requests) {
    while (server->stats().requests < requests) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  RawSocket dropping(server->port());
  dropping.send(post("/drop", 900));
  wait_for(1);
  while (server->stats().body_bytes > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  RawSocket holding(server->port());
  holding.send(post("/hold", 900));
  wait_for(2);
  EXPECT_EQ(server->stats().body_bytes, 900u);
  EXPECT_THAT(once(server->port(), post("/now", 101)), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(once(server->port(), post("/now", 100)), StartsWith("HTTP/1.1 200"));
  go = true;
  EXPECT_THAT(holding.read_all(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(dropping.read_all(), StartsWith("HTTP/1.1 200"));
  while (server->stats().body_bytes > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(once(server->port(), post("/now", 1000)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(once(server->port(), post("/now", 1001)), StartsWith("HTTP/1.1 503"));
}

TEST(Server, AnswersHeadWithoutBody) {
  auto server = start();
  RawSocket socket(server->port());
  socket.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\nGET /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(socket.read_until("\r\n\r\n"), HasSubstr("Content-Length: 13\r\n"));
  EXPECT_THAT(read_answer(socket), EndsWith("GET /y [] 0 "));
  socket.send("GET /empty HTTP/1.1\r\nHost: h\r\n\r\nGET /y HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(socket.read_until("\r\n\r\n"), Not(HasSubstr("Content-Length")));
  EXPECT_THAT(read_answer(socket), EndsWith("GET /y [] 0 "));
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  auto server = start();
  RawSocket socket(server->port());
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    requests += fmt::format("POST /{} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", i);
  }
  socket.send(requests);
  for (int i = 0; i < 200; ++i)
    EXPECT_THAT(read_answer(socket), EndsWith(fmt::format("POST /{} [] 3 abc", i)));
}

TEST(Server, ReadsBodiesInAnyPieces) {
  auto server = start();
  const std::string request =
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4;ext=1\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: x\r\n\r\n";
  for (size_t piece : {1ul, 2ul, 7ul, request.size()}) {
    RawSocket socket(server->port());
    for (size_t at = 0; at < request.size(); at += piece)
      socket.send(std::string_view(request).substr(at, piece));
    EXPECT_THAT(read_answer(socket), EndsWith("POST /c [] 9 Wikipedia")) << piece;
  }
}

TEST(Server, TakesBodiesOfManyMegabytes) {
  auto server = start();
  auto url = parse_url(fmt::format("127.0.0.1:{}", server->port()));
  std::string body(48 << 20, 'x');
  for (size_t i = 0; i < body.size(); i += 4093) body[i] = static_cast<char>('a' + i % 26);
  ClientRequest request{.method = "POST", .target = "/big", .body = body};
  const auto answer = fetch(*url, std::move(request));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(answer->body == fmt::format("POST /big [] {} ", body.size()) + body);
}

TEST(Server, RefusesBodiesOverTheLimitYetIsHeard) {
  auto server = start({.max_body = 1 << 20});
  // Announced too long: refused before the body; the client still writes all of it and must see the answer.
  RawSocket sized(server->port());
  sized.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n");
  sized.send(std::string(8'000'000, 'x'));
  EXPECT_THAT(sized.read_all(), StartsWith("HTTP/1.1 413 "));
  RawSocket chunked(server->port());
  chunked.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 80; ++i) chunked.send("186a0\r\n" + std::string(100'000, 'x') + "\r\n");
  EXPECT_THAT(chunked.read_all(), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(once(server->port(), "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999\r\n\r\n"),
              HasSubstr("larger than the limit of 1048576 bytes"));
}

TEST(Server, HonoursExpectContinue) {
  auto server = start();
  RawSocket socket(server->port());
  socket.send("POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(socket.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("ok");
  EXPECT_THAT(read_answer(socket), EndsWith("POST /e [] 2 ok"));
}

TEST(Server, RefusesMalformedRequests) {
  auto server = start({.max_header = 4096});
  const std::string host = "Host: h\r\n";
  const struct {
    std::string bytes;
    int status;
  } table[] = {
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS client hello\r\n\r\n", 400},
      {"GET\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost h\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nA\x01: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: h\n\n", 400},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 400},
      {"GET / FTP/1.1\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
      {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET a/b HTTP/1.1\r\n" + host + "\r\n", 400},
      {"G(T / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 18446744073709551617\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc", 400},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n", 400},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked, gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + host + "Expect: a-miracle\r\nContent-Length: 1\r\n\r\n", 417},
      {"GET / HTTP/1.1\r\n" + host + "X: " + std::string(5000, 'x') + "\r\n\r\n", 431},
      {"GET /" + std::string(300'000, 'x') + " HTTP/1.1\r\n" + host + "\r\n", 431},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(600'000, 'x'),
       400},
  };
  for (const auto& [bytes, status] : table) {
    const std::string answer = once(server->port(), bytes);
    EXPECT_THAT(answer, StartsWith(fmt::format("HTTP/1.1 {} ", status))) << bytes.substr(0, 200);
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  }
  EXPECT_EQ(server->stats().requests, 0u);  // none reached the handler
  EXPECT_THAT(
      once(server->port(), "\r\n\r\nGET http://h/p?q HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
      EndsWith("GET /p [q] 0 "));
}

TEST(Server, MakesItsOwnAnswersAsTold) {
  auto server = start({.max_body = 10, .refusal = [](const Refused& refused) {
                         Response response;
                         response.status = refused.status;
                         response.headers.set("X-Origin", refused.headers.get("origin").value_or("none"));
                         response.body = fmt::format("<{} {}>", refused.status, refused.body);
                         return response;
                       }});
  const std::string answer = once(server->port(), "GET\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("X-Origin: none\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n<400 false>"));
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nOrigin: o\r\n";
  for (const auto& [rest, body] : {std::pair{"Content-Length: 11\r\n\r\n", "<413 true>"},
                                   {"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "<400 true>"},
                                   {"Expect: more\r\nContent-Length: 1\r\n\r\n", "<417 false>"},
                                   {"Host: h\r\nContent-Length: 0\r\n\r\n", "<400 false>"},
                                   {"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "<501 false>"}}) {
    const std::string refused = once(server->port(), head + rest);
    EXPECT_THAT(refused, HasSubstr("X-Origin: o\r\n")) << rest;
    EXPECT_THAT(refused, EndsWith(body)) << rest;
  }
}

TEST(Server, SurvivesHandlersThatThrowOrSayNothing) {
  auto server = start();
  RawSocket socket(server->port());
  for (const char* path : {"/throw", "/silent", "/throw"}) {
    socket.send(fmt::format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", path));
    EXPECT_THAT(read_answer(socket), StartsWith("HTTP/1.1 500 "));
  }
  socket.send("GET /after HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(read_answer(socket), EndsWith("GET /after [] 0 "));
}

TEST(Server, KeepsLineBreaksOutOfHeaders) {
  auto server = start();
  const std::string answer = once(
      server->port(), "GET /?name=a%0d%0aSet-Cookie:%20b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("X-Name: a  Set-Cookie: b\r\n"));
}

TEST(Server, TimesOutSlowAndIdleClients) {
  auto server = start({.idle_timeout = 200 * kMillisecond,
                       .header_timeout = 200 * kMillisecond,
                       .body_timeout = 200 * kMillisecond});
  EXPECT_EQ(once(server->port(), ""), "");
  EXPECT_THAT(once(server->port(), "GET / HTTP/1.1\r\nHo"), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(once(server->port(), "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"),
              StartsWith("HTTP/1.1 408 "));
  // A byte now and then does not help.
  RawSocket drip(server->port());
  drip.send("GET / HTTP/1.1\r\nX: ");
  for (int i = 0; i < 250; ++i) {
    drip.send("x");
    usleep(2000);
  }
  EXPECT_THAT(drip.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(server->stats().requests, 0u);
}

TEST(Server, RefusesConnectionsOverTheLimit) {
  auto server = start({.max_connections = 2});
  RawSocket first(server->port()), second(server->port());
  for (RawSocket* socket : {&first, &second}) {
    socket->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(read_answer(*socket), StartsWith("HTTP/1.1 200 "));
  }
  const std::string refused = once(server->port(), "");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  first.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(read_answer(first), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, ServesOnAfterDescriptorsRanOut) {
  auto server = start();
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ::close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next) + 1;  // enough for the client's end of a connection only
  setrlimit(RLIMIT_NOFILE, &tight);
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  usleep(20'000);
  EXPECT_EQ(server->stats().accepted, 0u);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(read_answer(socket), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, NamesWhatItCannotListenOn) {
  auto server = start();
  const auto taken = Server::start({.port = server->port()}, echo);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("cannot listen on 127.0.0.1 port"));
  EXPECT_FALSE(Server::start({.address = "no-such-address"}, echo));
}

TEST(Server, AnswersManyClientsOverSeveralNetThreads) {
  auto server = start({.net_threads = 3, .worker_threads = 3});
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 60; ++i) sockets.emplace_back(server->port());
  for (int round = 0; round < 5; ++round) {
    for (size_t i = 0; i < sockets.size(); ++i) {
      sockets[i].send(fmt::format("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", i));
    }
    for (size_t i = 0; i < sockets.size(); ++i) {
      EXPECT_THAT(read_answer(sockets[i]), EndsWith(fmt::format("GET /{} [] 0 ", i)));
    }
  }
  EXPECT_EQ(server->stats().connections, 60u);
}

}  // namespace
}  // namespace reprise::http
