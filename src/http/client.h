// An HTTP/1.1 client for plain http: one connection, one request at a time, answers streamed as they arrive.
// For the terminal client, the load generator and tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/result.h"
#include "http/headers.h"
#include "http/url.h"

namespace reprise::http {

namespace asio = boost::asio;

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // appended to Url::path
  Headers headers;           // Host, Content-Length and User-Agent are added
  std::string body;
};

struct ResponseHead {
  int status = 0;
  Headers headers;
};

struct ClientOptions {
  Nanos connect_timeout = 10 * kSecond;
  Nanos read_timeout = 600 * kSecond;  // of silence
  size_t max_header = 256 << 10;
};

// All calls on the executor's thread (single-threaded, or a strand).
class Client {
 public:
  Client(asio::any_io_executor executor, Url url, ClientOptions options = {});
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Connects when needed, sends, and returns the head of the answer. The rest of an earlier answer is dropped
  // with its connection. A kept connection that the server has closed meanwhile is replaced once.
  // kUnavailable: nothing listens there, or it cannot be reached; kCancelled: close() was called meanwhile.
  asio::awaitable<Result<ResponseHead>> send(ClientRequest request);
  // The next piece of the body, empty at its end. kInternal: the stream was cut.
  asio::awaitable<Result<std::string>> read();

  // Drops the connection at once; pending calls return kCancelled. The next send() connects anew.
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};
// One request on a fresh connection, blocking, the whole answer at once.
Result<ClientResponse> fetch(const Url& url, ClientRequest request, ClientOptions options = {});

}  // namespace reprise::http
