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
  ServerContext(ServerOptions o, Handler h)
      : options(std::move(o)),
        handler(std::move(h)),
        bodies(std::make_shared<BodyBudget>(options.max_bodies)) {}

  const ServerOptions options;
  const Handler handler;
  asio::io_context workers;

  std::atomic<bool> stopping = false;  // answers say Connection: close, idle connections end
  std::atomic<uint64_t> accepted = 0;
  std::atomic<uint64_t> requests = 0;
  const std::shared_ptr<BodyBudget> bodies;  // of all connections together

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

  Response refusal(const Refused& refused) const {
    if (options.refusal) return options.refusal(refused);
    Response response;
    response.status = refused.status;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    response.body = std::string(refused.message) + "\n";
    return response;
  }
};

}  // namespace reprise::http
