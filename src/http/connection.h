// One client connection on its net thread: reads requests, has handlers run, sends their bytes. Internal to
// http/.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "base/clock.h"
#include "http/exchange_state.h"
#include "http/server_context.h"

namespace reprise::http {

// Everything here runs on the one thread of `socket`'s io_context.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerContext> context, asio::ip::tcp::socket socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Serves until the connection ends. With `overloaded` it only says 503.
  asio::awaitable<void> run(bool overloaded);

  // Called every now and then: closes or cancels what has passed its deadline.
  void check_deadlines(Nanos now);
  // Ends the connection if it is waiting for a request; others end by themselves after their exchange.
  void close_if_idle();
  // Breaks it off; a running handler is told.
  void abort();

 private:
  static constexpr Nanos kNever = std::numeric_limits<Nanos>::max();
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  struct Incoming {
    Request request;
    bool http_1_0 = false;
    bool keep_alive = false;
  };
  struct Refusal {
    int status = 0;
    std::string message;
    bool body = false;  // it is the body's fault
    Headers headers;    // of the request, as far as they were read
  };
  struct Closed {};
  using Received = std::variant<Closed, Refusal, Incoming>;

  asio::awaitable<Received> receive();
  asio::awaitable<bool> await_first_byte();
  asio::awaitable<std::optional<Refusal>> receive_body(Parser& parser, BodyShare& share);
  asio::awaitable<void> exchange(Incoming incoming);
  asio::awaitable<void> watch(std::shared_ptr<Exchange::State> state);
  asio::awaitable<void> send(std::shared_ptr<Exchange::State> state);
  asio::awaitable<bool> send_all(std::string_view bytes, Exchange::State* state);
  asio::awaitable<void> refuse(Refusal refusal);
  asio::awaitable<void> linger();
  Refusal parse_refusal(const boost::system::error_code& error, const Parser& parser) const;
  Received complete(Parser::value_type message, bool keep_alive) const;

  const std::shared_ptr<ServerContext> context_;
  asio::ip::tcp::socket socket_;
  const std::string remote_;
  boost::beast::flat_buffer buffer_;  // received, not yet parsed: pipelined requests wait here
  std::shared_ptr<Exchange::State> current_;

  Nanos read_deadline_ = kNever;   // passing it cancels the read
  Nanos write_deadline_ = kNever;  // passing it breaks the connection
  bool timed_out_ = false;
  bool idle_ = false;         // waiting for a request's first byte
  bool broken_ = false;       // nothing can be sent any more
  bool peer_closed_ = false;  // nothing will be received any more
  bool stop_watching_ = false;
  AsyncEvent watch_ended_;
};

}  // namespace reprise::http
