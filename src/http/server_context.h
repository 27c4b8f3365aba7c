// What all connections of a server share. Internal to http/.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>

#include <boost/asio/io_context.hpp>

#include "http/server.h"

namespace reprise::http {

struct ServerContext {
  ServerContext(ServerOptions o, Handler h) : options(std::move(o)), handler(std::move(h)) {}

  const ServerOptions options;
  const Handler handler;
  asio::io_context workers;

  std::atomic<bool> stopping = false;  // answers say Connection: close, idle connections end
  std::atomic<uint64_t> accepted = 0;
  std::atomic<uint64_t> requests = 0;
  std::atomic<size_t> receiving = 0;  // body bytes of unfinished requests, all connections together

  // Connections and handlers alive; stop() waits for both to reach zero.
  std::mutex mutex;
  std::condition_variable idle;
  size_t connections = 0;
  size_t exchanges = 0;

  void count(size_t ServerContext::*what, int change) {
    std::lock_guard lock(mutex);
    this->*what += change;
    if (change < 0) idle.notify_all();
  }
  size_t read(size_t ServerContext::*what) {
    std::lock_guard lock(mutex);
    return this->*what;
  }

  Response error(int status, std::string_view message) const {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", options.error_type);
    response.body = options.error_body ? options.error_body(status, message) : std::string(message) + "\n";
    return response;
  }
};

}  // namespace reprise::http
