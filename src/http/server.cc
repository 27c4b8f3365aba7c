// Each net thread has its own io_context, and a connection stays on one: its code needs no lock. The first
// net thread also accepts and deals connections out in turn. Workers share one io_context.
//
// Stopping: `stopping` makes every connection end after its exchange; stop() waits for the counts of
// connections and exchanges to reach zero, after the grace it breaks the rest off, and only then joins the
// threads.
#include "http/server.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <boost/asio.hpp>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "http/connection.h"
#include "http/server_context.h"

namespace reprise::http {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using WorkGuard = asio::executor_work_guard<asio::io_context::executor_type>;

struct NetThread {
  asio::io_context context{1};
  WorkGuard work{context.get_executor()};
  asio::steady_timer sweep{context};
  std::vector<std::weak_ptr<Connection>> connections;  // touched by the thread only
};

// Runs the context until it is stopped. Signals go to the program's own threads.
std::thread start_thread(asio::io_context& context, std::string name, int nice) {
  return std::thread([&context, name = std::move(name), nice] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), name.c_str());
    if (nice != 0)
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), getpriority(PRIO_PROCESS, 0) + nice);
    while (true) {
      try {
        context.run();
        return;
      } catch (const std::exception& error) {
        log::error("http: {}: {}", name, error.what());
      }
    }
  });
}

Result<tcp::acceptor> listen(asio::io_context& context, const ServerOptions& options) {
  error_code error;
  const auto address =
      asio::ip::make_address(options.address == "localhost" ? "127.0.0.1" : options.address, error);
  if (error)
    return invalid("'{}' is not a numeric address to listen on (like 127.0.0.1 or ::)", options.address);
  const tcp::endpoint endpoint(address, options.port);
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && address.is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(4096, error);
  if (error) {
    return fail(ErrorKind::kUnavailable, "cannot listen on {} port {}: {}; choose another address or port",
                options.address, options.port, error.message());
  }
  return acceptor;
}

}  // namespace

struct Server::Impl {
  std::shared_ptr<ServerContext> context;
  WorkGuard worker_work;
  std::vector<std::unique_ptr<NetThread>> net;
  std::optional<tcp::acceptor> acceptor;
  uint16_t port = 0;
  Nanos sweep_interval = 0;
  std::vector<std::thread> threads;
  bool stopped = false;

  explicit Impl(std::shared_ptr<ServerContext> c)
      : context(std::move(c)), worker_work(context->workers.get_executor()) {}

  void run();
  asio::awaitable<void> accept();
  void adopt(NetThread& thread, tcp::socket socket);
  void sweep(NetThread& thread);
  void for_each_connection(void (Connection::*what)());
  bool wait_until_idle(Nanos limit);
};

void Server::Impl::run() {
  const ServerOptions& options = context->options;
  sweep_interval = std::clamp(
      std::min({options.idle_timeout, options.header_timeout, options.body_timeout, options.write_timeout}) /
          4,
      5 * kMillisecond, 500 * kMillisecond);
  for (size_t i = 0; i < net.size(); ++i) {
    asio::post(net[i]->context, [this, thread = net[i].get()] { sweep(*thread); });
    threads.push_back(start_thread(net[i]->context, fmt::format("net-{}", i), 0));
  }
  for (int i = 0; i < std::max(1, options.worker_threads); ++i) {
    threads.push_back(start_thread(context->workers, fmt::format("worker-{}", i), options.worker_nice));
  }
  asio::co_spawn(net[0]->context, accept(), asio::detached);
}

asio::awaitable<void> Server::Impl::accept() {
  for (size_t next = 0;; next = (next + 1) % net.size()) {
    NetThread& thread = *net[next];
    auto [error, socket] =
        co_await acceptor->async_accept(thread.context, asio::as_tuple(asio::use_awaitable));
    if (context->stopping) co_return;
    if (error == asio::error::connection_aborted) continue;
    if (error) {
      // Mostly: no descriptors left. The connection waits in the kernel's queue until others have closed.
      log::warn("http: cannot accept a connection: {}", error.message());
      asio::steady_timer pause(net[0]->context, std::chrono::milliseconds(200));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      if (context->stopping) co_return;
      continue;
    }
    asio::post(thread.context,
               [this, &thread, socket = std::move(socket)]() mutable { adopt(thread, std::move(socket)); });
  }
}

void Server::Impl::adopt(NetThread& thread, tcp::socket socket) {
  const bool overloaded = context->read(&ServerContext::connections) >= context->options.max_connections;
  auto connection = std::make_shared<Connection>(context, std::move(socket));
  thread.connections.push_back(connection);
  Connection& target = *connection;
  asio::co_spawn(thread.context, target.run(overloaded), [connection](std::exception_ptr failure) {
    if (!failure) return;
    connection->abort();
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log::error("http: a connection failed: {}", error.what());
    }
  });
}

void Server::Impl::sweep(NetThread& thread) {
  const Nanos time = now();
  std::erase_if(thread.connections, [time](const std::weak_ptr<Connection>& weak) {
    const auto connection = weak.lock();
    if (connection) connection->check_deadlines(time);
    return !connection;
  });
  thread.sweep.expires_after(std::chrono::nanoseconds(sweep_interval));
  thread.sweep.async_wait([this, &thread](error_code error) {
    if (!error) sweep(thread);
  });
}

void Server::Impl::for_each_connection(void (Connection::*what)()) {
  for (auto& thread : net) {
    asio::post(thread->context, [thread = thread.get(), what] {
      for (const auto& weak : thread->connections) {
        if (const auto connection = weak.lock()) (connection.get()->*what)();
      }
    });
  }
}

bool Server::Impl::wait_until_idle(Nanos limit) {
  std::unique_lock lock(context->mutex);
  return context->idle.wait_for(lock, std::chrono::nanoseconds(limit),
                                [&] { return context->connections == 0 && context->exchanges == 0; });
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(0); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  auto impl = std::make_unique<Impl>(std::make_shared<ServerContext>(std::move(options), std::move(handler)));
  for (int i = 0; i < std::max(1, impl->context->options.net_threads); ++i) {
    impl->net.push_back(std::make_unique<NetThread>());
  }
  impl->acceptor = TRY(listen(impl->net[0]->context, impl->context->options));
  impl->port = impl->acceptor->local_endpoint().port();
  impl->run();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const { return impl_->port; }
asio::any_io_executor Server::workers() const { return impl_->context->workers.get_executor(); }

ServerStats Server::stats() const {
  ServerContext& context = *impl_->context;
  std::lock_guard lock(context.mutex);
  return {context.connections, context.exchanges, context.accepted, context.requests, context.bodies->held};
}

void Server::stop(Nanos grace) {
  if (std::exchange(impl_->stopped, true)) return;
  constexpr Nanos kHandlersReturn = 10 * kSecond;
  impl_->context->stopping = true;
  asio::post(impl_->net[0]->context, [impl = impl_.get()] { impl->acceptor.reset(); });
  impl_->for_each_connection(&Connection::close_if_idle);
  if (!impl_->wait_until_idle(grace)) {
    impl_->for_each_connection(&Connection::abort);
    if (!impl_->wait_until_idle(kHandlersReturn)) {
      log::warn("http: {} handlers have not returned after their clients were cut off", stats().exchanges);
    }
  }
  for (auto& thread : impl_->net) thread->context.stop();
  impl_->context->workers.stop();
  for (auto& thread : impl_->threads) thread.join();
  impl_->threads.clear();
}

}  // namespace reprise::http
