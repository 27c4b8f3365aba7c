// A loop of receive, exchange. During an exchange two coroutines run: send() moves the handler's bytes out,
// watch() keeps a read pending so that a closing client is noticed while nothing is written; what it reads
// belongs to the next request and stays in buffer_, up to a limit, then only errors are watched.
//
// A client that has closed its sending side counts as gone (the handler is told and should stop), but an
// answer that comes all the same is still sent: `printf 'GET ...' | nc -N` gets it.
//
// After the end of its input a socket must not be read again: the reactor, being edge-triggered, would not
// report it a second time. So peer_closed_ is remembered; requests pipelined before it are served, and a
// partial one is dropped.
//
// Deadlines are two fields that a sweep of the net thread compares with the clock: no timer per operation.
#include "http/connection.h"

#include <netinet/tcp.h>

#include "base/log.h"
#include "http/url.h"

namespace reprise::http {
namespace {

namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr size_t kPipelined = 64 << 10;  // bytes of later requests kept during an exchange
constexpr size_t kReadSize = 64 << 10;
constexpr size_t kWatchSize = 4 << 10;
constexpr Nanos kSlowestBody = kSecond / (16 << 10);  // per byte: a client slower than 16 KiB/s is cut off
constexpr std::string_view kTooManyBodies = "too many large requests are in hand; try again in a moment";
constexpr Nanos kLinger = 2 * kSecond;

std::string address_of(const tcp::socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "unknown";
  const std::string host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", host, endpoint.port())
                                    : fmt::format("{}:{}", host, endpoint.port());
}

std::string_view view(boost::core::string_view text) { return {text.data(), text.size()}; }

// A peer that has vanished without a word is noticed within about two minutes, on an idle stream too.
void set_options(tcp::socket& socket) {
  const std::pair<int, int> options[] = {{TCP_NODELAY, 1},
                                         {TCP_KEEPIDLE, 60},
                                         {TCP_KEEPINTVL, 15},
                                         {TCP_KEEPCNT, 4},
                                         {TCP_USER_TIMEOUT, 120'000}};
  for (const auto& [name, value] : options) {
    setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
  }
  error_code ignored;
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
}

Headers headers_of(const beast::http::fields& fields) {
  Headers headers;
  for (const auto& field : fields) headers.add(view(field.name_string()), view(field.value()));
  return headers;
}

// The client has closed or the connection broke, as opposed to sending what cannot be parsed.
bool has_ended(const error_code& error) {
  return error == beast::http::error::end_of_stream || error == beast::http::error::partial_message ||
         (error && error.category() == asio::error::get_system_category());
}

}  // namespace

Connection::Connection(std::shared_ptr<ServerContext> context, tcp::socket socket)
    : context_(std::move(context)),
      socket_(std::move(socket)),
      remote_(address_of(socket_)),
      buffer_(context_->options.max_header + kPipelined + 2 * kReadSize) {
  context_->count(&ServerContext::connections, +1);
  ++context_->accepted;
}

Connection::~Connection() { context_->count(&ServerContext::connections, -1); }

asio::awaitable<void> Connection::run(bool overloaded) {
  set_options(socket_);
  if (overloaded) {
    Refusal refusal{503, "too many connections; try again in a moment", false, {}};
    co_await refuse(std::move(refusal));
    co_return;
  }
  while (true) {
    Received received = co_await receive();
    if (std::holds_alternative<Closed>(received)) break;
    if (auto* refusal = std::get_if<Refusal>(&received)) {
      log::debug("http: {} {}: {}", remote_, refusal->status, refusal->message);
      co_await refuse(std::move(*refusal));
      break;
    }
    Incoming incoming = std::move(std::get<Incoming>(received));
    co_await exchange(std::move(incoming));
    const bool reusable = !broken_ && current_->reusable();
    current_.reset();
    if (reusable) continue;
    if (!broken_ && !peer_closed_) co_await linger();
    break;
  }
  error_code ignored;
  socket_.close(ignored);
}

// ---- receiving

asio::awaitable<bool> Connection::await_first_byte() {
  while (true) {
    // Empty lines before a request are to be ignored (RFC 9112 §2.2).
    while (buffer_.size() > 0) {
      const char c = *static_cast<const char*>(buffer_.data().data());
      if (c != '\r' && c != '\n') co_return true;
      buffer_.consume(1);
    }
    if (context_->stopping || peer_closed_) co_return false;
    buffer_.shrink_to_fit();
    idle_ = true;
    auto [error, count] = co_await socket_.async_read_some(buffer_.prepare(kWatchSize), kToken);
    idle_ = false;
    if (error) co_return false;
    buffer_.commit(count);
  }
}

asio::awaitable<Connection::Received> Connection::receive() {
  const ServerOptions& options = context_->options;
  timed_out_ = false;
  read_deadline_ = now() + options.idle_timeout;
  const bool begun = co_await await_first_byte();
  if (!begun) co_return Closed{};

  Parser parser;
  parser.header_limit(static_cast<uint32_t>(std::min<size_t>(options.max_header, UINT32_MAX)));
  parser.body_limit(options.max_body);
  read_deadline_ = now() + (peer_closed_ ? 0 : options.header_timeout);
  {
    auto [error, count] = co_await beast::http::async_read_header(socket_, buffer_, parser, kToken);
    read_deadline_ = kNever;
    if (error == asio::error::operation_aborted && timed_out_ && !peer_closed_) {
      co_return Refusal{408, "the request header took too long to arrive", false, headers_of(parser.get())};
    }
    if (has_ended(error)) co_return Closed{};
    if (error) co_return parse_refusal(error, parser);
  }
  BodyShare share(context_->bodies);
  if (!parser.is_done()) {
    std::optional<Refusal> refusal = co_await receive_body(parser, share);
    read_deadline_ = kNever;
    if (refusal && refusal->status == 0) co_return Closed{};
    if (refusal) co_return std::move(*refusal);
  }
  const bool keep_alive = parser.keep_alive();
  Received received = complete(parser.release(), keep_alive);
  if (auto* incoming = std::get_if<Incoming>(&received)) {
    const bool fits = share.grow_to(incoming->request.body.size());  // it may have come with the header
    if (!fits)
      co_return Refusal{503, std::string(kTooManyBodies), false, std::move(incoming->request.headers)};
    incoming->request.share = std::move(share);
  }
  co_return std::move(received);
}

// A refusal of status 0 means that the connection has ended.
asio::awaitable<std::optional<Connection::Refusal>> Connection::receive_body(Parser& parser,
                                                                             BodyShare& share) {
  const auto& head = parser.get();
  if (const auto expect = head.find(beast::http::field::expect);
      expect != head.end() && head.version() >= 11) {
    if (!beast::iequals(expect->value(), "100-continue")) {
      co_return Refusal{417, "the only expectation supported is 100-continue", false, headers_of(head)};
    }
    if (buffer_.size() == 0) {
      const bool sent = co_await send_all("HTTP/1.1 100 Continue\r\n\r\n", nullptr);
      if (!sent) co_return Refusal{};
    }
  }
  const Nanos patience = now() + context_->options.body_timeout;
  size_t received = 0;
  while (!parser.is_done()) {
    read_deadline_ = peer_closed_ ? now() : patience + static_cast<Nanos>(received) * kSlowestBody;
    auto [error, count] = co_await beast::http::async_read_some(socket_, buffer_, parser, kToken);
    received += count;
    if (error == asio::error::operation_aborted && timed_out_ && !peer_closed_) {
      co_return Refusal{408, "the request body took too long to arrive", true, headers_of(head)};
    }
    if (has_ended(error)) co_return Refusal{};
    if (error == beast::http::error::buffer_overflow) {
      co_return Refusal{400, "malformed HTTP request: a chunk's header does not end", true, headers_of(head)};
    }
    if (error) co_return parse_refusal(error, parser);
    if (!share.grow_to(received)) {
      co_return Refusal{503, std::string(kTooManyBodies), false, headers_of(head)};
    }
  }
  co_return std::nullopt;
}

Connection::Refusal Connection::parse_refusal(const error_code& error, const Parser& parser) const {
  const ServerOptions& options = context_->options;
  Refusal refusal{400, fmt::format("malformed HTTP request: {}", error.message()), parser.is_header_done(),
                  headers_of(parser.get())};
  if (error == beast::http::error::body_limit) {
    refusal.status = 413;
    refusal.message = fmt::format("the request body is larger than the limit of {} bytes", options.max_body);
    refusal.body = true;  // its size stands in the header
  } else if (error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow) {
    refusal.status = 431;
    refusal.message =
        fmt::format("the request header is larger than the limit of {} bytes", options.max_header);
  }
  return refusal;
}

Connection::Received Connection::complete(Parser::value_type message, bool keep_alive) const {
  Incoming incoming;
  Request& request = incoming.request;
  incoming.http_1_0 = message.version() < 11;
  incoming.keep_alive = keep_alive;
  if (const auto coding = message.find(beast::http::field::transfer_encoding); coding != message.end()) {
    // Anything but exactly "chunked" leaves the body's end in doubt: the door of request smuggling.
    if (!beast::iequals(coding->value(), "chunked") || incoming.http_1_0 ||
        message.count(beast::http::field::transfer_encoding) != 1)
      return Refusal{501, "the only transfer encoding supported is chunked", false, headers_of(message)};
  }
  if (!incoming.http_1_0 && message.count(beast::http::field::host) != 1) {
    return Refusal{400, "malformed HTTP request: exactly one Host header is needed", false,
                   headers_of(message)};
  }
  request.method = view(message.method_string());
  request.target = view(message.target());
  request.headers = headers_of(message);

  std::optional<Target> target = parse_target(request.target);
  if (!target) {
    return Refusal{400, "malformed HTTP request: the target is no valid path", false,
                   std::move(request.headers)};
  }
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.body = std::move(message.body());
  request.remote = remote_;
  return incoming;
}

// ---- answering

asio::awaitable<void> Connection::exchange(Incoming incoming) {
  current_ = std::make_shared<Exchange::State>(context_, incoming.request.method == "HEAD", incoming.http_1_0,
                                               incoming.keep_alive);
  context_->count(&ServerContext::exchanges, +1);
  ++context_->requests;
  asio::co_spawn(context_->workers, run_handler(std::move(incoming.request), current_), asio::detached);

  stop_watching_ = false;
  asio::co_spawn(socket_.get_executor(), watch(current_),
                 [self = shared_from_this()](std::exception_ptr) { self->watch_ended_.set(); });
  co_await send(current_);
  stop_watching_ = true;
  error_code ignored;
  socket_.cancel(ignored);
  co_await watch_ended_.wait();
}

asio::awaitable<void> Connection::watch(std::shared_ptr<Exchange::State> state) {
  if (peer_closed_) state->mark_gone();
  while (!stop_watching_ && !peer_closed_) {
    error_code error;
    if (buffer_.size() < kPipelined) {
      auto [read_error, count] = co_await socket_.async_read_some(buffer_.prepare(kWatchSize), kToken);
      buffer_.commit(count);
      error = read_error;
      if (!error) continue;
    } else {
      auto [wait_error] = co_await socket_.async_wait(tcp::socket::wait_error, kToken);
      error = wait_error ? wait_error : error_code(asio::error::connection_reset);
    }
    if (stop_watching_ && error == asio::error::operation_aborted) break;
    peer_closed_ = true;
    if (error != asio::error::eof) broken_ = true;
    state->mark_gone();
    state->output.set();
    break;
  }
}

asio::awaitable<void> Connection::send(std::shared_ptr<Exchange::State> state) {
  while (!broken_) {
    Exchange::State::Output output = state->take();
    if (!output.bytes.empty()) {
      const bool sent = co_await send_all(output.bytes, state.get());
      if (!sent) break;
    } else if (output.last) {
      break;
    } else {
      co_await state->output.wait();
    }
  }
  if (broken_) state->mark_gone();
}

asio::awaitable<bool> Connection::send_all(std::string_view bytes, Exchange::State* state) {
  while (!bytes.empty()) {
    write_deadline_ = now() + context_->options.write_timeout;
    auto [error, count] = co_await socket_.async_write_some(asio::buffer(bytes), kToken);
    write_deadline_ = kNever;
    if (error) {
      broken_ = true;
      co_return false;
    }
    bytes.remove_prefix(count);
    if (state) state->sent(count);
  }
  co_return true;
}

asio::awaitable<void> Connection::refuse(Refusal refusal) {
  current_ = std::make_shared<Exchange::State>(context_, false, false, /*keep=*/false);
  Response response = context_->refusal({.status = refusal.status,
                                         .message = refusal.message,
                                         .body = refusal.body,
                                         .headers = refusal.headers});
  if (refusal.status == 503) response.headers.set("Retry-After", "1");
  current_->respond(std::move(response));
  co_await send(current_);
  if (!broken_) co_await linger();
}

// Closing while the client still sends would reset the connection and may lose the answer: say that nothing
// follows, and drop what comes until the client closes or a short time has passed.
asio::awaitable<void> Connection::linger() {
  error_code error;
  socket_.shutdown(tcp::socket::shutdown_send, error);
  timed_out_ = false;
  read_deadline_ = now() + kLinger;
  std::string dropped(kReadSize, '\0');
  while (!error && !timed_out_) {
    auto [read_error, count] = co_await socket_.async_read_some(asio::buffer(dropped), kToken);
    error = read_error;
  }
  read_deadline_ = kNever;
}

// ---- from the net thread's sweep

void Connection::check_deadlines(Nanos now) {
  error_code ignored;
  if (now >= write_deadline_) {
    log::debug("http: {} takes no bytes: closed", remote_);
    abort();
  } else if (now >= read_deadline_) {
    read_deadline_ = kNever;
    timed_out_ = true;
    socket_.cancel(ignored);
  }
}

void Connection::close_if_idle() {
  error_code ignored;
  if (idle_) socket_.close(ignored);
}

void Connection::abort() {
  error_code ignored;
  broken_ = true;
  write_deadline_ = read_deadline_ = kNever;
  socket_.close(ignored);
  if (current_) {
    current_->mark_gone();
    current_->output.set();
  }
}

}  // namespace reprise::http
