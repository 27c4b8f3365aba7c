// An HTTP/1.1 server: few net threads that only move bytes, and a pool of workers that run the handlers.
//
// It does keep-alive, pipelining (answers in order; a request starts when the answer before it is sent),
// chunked and sized bodies, HEAD, Expect: 100-continue, HTTP/1.0; it bounds header, body, connection count
// and every wait. Wire format: RFC 9112. Malformed or oversized requests are answered (400, 408, 413, 431,
// 501, 503) without reaching the handler. A handler that throws gets its client a 500 and a line in the log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "http/exchange.h"

namespace reprise::http {

// Runs on a worker thread. The Exchange lives until the coroutine ends.
using Handler = std::function<asio::awaitable<void>(Request, Exchange&)>;

// A request that the server itself answers.
struct Refused {
  int status;
  std::string_view message;
  bool body = false;       // its body is at fault
  const Headers& headers;  // of the request, as far as they were read
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // numeric, or "localhost"
  uint16_t port = 0;                  // 0: any free one, see Server::port
  int net_threads = 1;
  int worker_threads = 2;
  int worker_nice = 5;  // added to the workers' niceness: computing comes first

  size_t max_connections = 20'000;      // further ones are answered 503
  size_t max_header = 64 << 10;         // bytes; beyond: 431
  size_t max_body = 64 << 20;           // bytes; beyond: 413
  size_t max_bodies = size_t{2} << 30;  // bytes of the bodies held at once; beyond: 503
  size_t write_buffer = 256 << 10;      // bytes queued per connection before Exchange::write waits

  Nanos idle_timeout = 120 * kSecond;   // between requests on a kept connection
  Nanos header_timeout = 20 * kSecond;  // from a request's first byte to the end of its header
  Nanos body_timeout = 30 * kSecond;    // on top of the time a client of 16 KiB/s needs
  Nanos write_timeout = 60 * kSecond;   // without the client taking one byte of what is ready to be sent

  // Makes the answers that are the server's own, and that to a handler's failure; else they are plain text.
  std::function<Response(const Refused&)> refusal;
};

struct ServerStats {
  uint64_t connections = 0;  // open now
  uint64_t exchanges = 0;    // handlers running now
  uint64_t accepted = 0;     // connections ever
  uint64_t requests = 0;     // that reached the handler, ever
  uint64_t body_bytes = 0;   // held now
};

class Server {
 public:
  // Listens and serves from now on. Fails with one line when the address cannot be had.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  // As stop(0).
  ~Server();

  uint16_t port() const;
  ServerStats stats() const;
  // Where handlers run; for other coroutines that belong to the workers.
  asio::any_io_executor workers() const;

  // Stops accepting, closes idle connections, lets running exchanges end for up to `grace`, then tells the
  // rest that their client is gone and waits for their handlers to return. Blocks; call it from a thread that
  // is not the server's.
  void stop(Nanos grace);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::http
