// The answer's body is parsed into a caller's buffer piece by piece, so a stream's bytes are handed on as
// they arrive and memory stays bounded. `closed_` is how close() reaches calls that are suspended on the
// socket or the resolver.
#include "http/client.h"

#include <chrono>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace reprise::http {
namespace {

namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr size_t kPiece = 64 << 10;

}  // namespace

struct Client::Impl {
  using Parser = beast::http::response_parser<beast::http::buffer_body>;
  using Sent = beast::http::request<beast::http::string_body>;

  Impl(asio::any_io_executor e, Url u, ClientOptions o)
      : executor(e), url(std::move(u)), options(o), resolver(e), stream(e) {}

  asio::any_io_executor executor;
  const Url url;
  const ClientOptions options;
  tcp::resolver resolver;
  beast::tcp_stream stream;
  beast::flat_buffer buffer;
  std::optional<Parser> parser;
  bool connected = false;
  bool closed = false;  // close() was called since the last send()

  std::string origin() const {
    const bool v6 = url.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", url.host, v6 ? "]" : "", url.port);
  }
  void limit(Nanos time) { stream.expires_after(std::chrono::nanoseconds(time)); }
  void drop() {
    connected = false;
    stream.close();
    buffer.clear();
  }
  std::unexpected<Error> failure(const error_code& error) const;
  Sent message(ClientRequest request) const;
  asio::awaitable<error_code> connect();
  asio::awaitable<error_code> transfer(const Sent& message);
};

std::unexpected<Error> Client::Impl::failure(const error_code& error) const {
  if (closed) return fail(ErrorKind::kCancelled, "the request was cancelled");
  if (!connected)
    return fail(ErrorKind::kUnavailable, "cannot reach http://{}: {}", origin(), error.message());
  if (error == beast::error::timeout) {
    return fail(ErrorKind::kUnavailable, "http://{} has been silent for {:.0f} s", origin(),
                to_seconds(options.read_timeout));
  }
  if (error == beast::http::error::end_of_stream || error == beast::http::error::partial_message ||
      error.category() == asio::error::get_system_category()) {
    return fail(ErrorKind::kInternal, "http://{} closed the connection before the answer was complete",
                origin());
  }
  return fail(ErrorKind::kInternal, "http://{} sent a malformed answer: {}", origin(), error.message());
}

Client::Impl::Sent Client::Impl::message(ClientRequest request) const {
  Sent message;
  message.version(11);
  message.method_string(request.method);
  message.target(url.path + request.target);
  message.set(beast::http::field::host, origin());
  message.set(beast::http::field::user_agent, "reprise");
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.body() = std::move(request.body);
  message.prepare_payload();
  return message;
}

asio::awaitable<error_code> Client::Impl::connect() {
  stream.close();
  buffer.clear();
  auto [resolve_error, endpoints] =
      co_await resolver.async_resolve(url.host, std::to_string(url.port), kToken);
  if (resolve_error || closed) co_return resolve_error;
  limit(options.connect_timeout);
  auto [error, endpoint] = co_await stream.async_connect(endpoints, kToken);
  if (error || closed) co_return error;
  error_code ignored;
  stream.socket().set_option(tcp::no_delay(true), ignored);
  connected = true;
  co_return error_code();
}

// Sends, and reads up to the end of the answer's head.
asio::awaitable<error_code> Client::Impl::transfer(const Sent& message) {
  limit(options.read_timeout);
  // A server may answer (413, 429) before it has read all: a failed write is no failure until the read fails
  // too.
  auto [write_error, written] = co_await beast::http::async_write(stream, message, kToken);
  if (closed) co_return write_error;
  do {
    parser.emplace();
    parser->body_limit(boost::none);
    parser->header_limit(static_cast<uint32_t>(options.max_header));
    parser->skip(message.method() == beast::http::verb::head);
    limit(options.read_timeout);
    auto [error, count] = co_await beast::http::async_read_header(stream, buffer, *parser, kToken);
    if (error) co_return error;
  } while (parser->get().result_int() < 200);  // 100 Continue and other interim answers
  co_return error_code();
}

Client::Client(asio::any_io_executor executor, Url url, ClientOptions options)
    : impl_(std::make_shared<Impl>(executor, std::move(url), options)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() {
  if (impl_) close();
}

void Client::close() {
  impl_->closed = true;
  impl_->resolver.cancel();
  impl_->stream.close();
}

asio::awaitable<Result<ResponseHead>> Client::send(ClientRequest request) {
  const std::shared_ptr<Impl> impl = impl_;
  const bool unread = impl->parser && !impl->parser->is_done();
  if (impl->closed || unread) impl->drop();
  if (impl->parser && !unread && !impl->parser->keep_alive()) impl->drop();
  impl->closed = false;
  impl->parser.reset();
  const Impl::Sent message = impl->message(std::move(request));

  while (true) {
    const bool kept = impl->connected;
    error_code error;
    if (!kept) error = co_await impl->connect();
    if (error || impl->closed) co_return impl->failure(error);
    error = co_await impl->transfer(message);
    if (!error && !impl->closed) break;  // closed: the operation had succeeded, and more would have followed
    const bool nothing_came = impl->buffer.size() == 0 && !(impl->parser && impl->parser->got_some());
    const bool silent = error == beast::error::timeout;
    if (kept && nothing_came && !silent && !impl->closed) {  // a kept connection had been closed meanwhile
      impl->drop();
      continue;
    }
    auto failure = impl->failure(error);
    impl->parser.reset();
    impl->drop();
    co_return failure;
  }

  ResponseHead head;
  const auto& answer = impl->parser->get();
  head.status = static_cast<int>(answer.result_int());
  for (const auto& field : answer) {
    head.headers.add(std::string_view(field.name_string().data(), field.name_string().size()),
                     std::string_view(field.value().data(), field.value().size()));
  }
  co_return head;
}

asio::awaitable<Result<std::string>> Client::read() {
  const std::shared_ptr<Impl> impl = impl_;
  std::string piece;
  if (!impl->parser) co_return impl->failure(asio::error::not_connected);
  piece.resize(kPiece);
  while (!impl->parser->is_done()) {
    auto& body = impl->parser->get().body();
    body.data = piece.data();
    body.size = piece.size();
    impl->limit(impl->options.read_timeout);
    auto [error, count] =
        co_await beast::http::async_read_some(impl->stream, impl->buffer, *impl->parser, kToken);
    if (error == beast::http::error::need_buffer) error = {};
    const size_t filled = piece.size() - body.size;
    if (error || impl->closed) {
      auto failure = impl->failure(error);
      impl->parser.reset();
      impl->drop();
      co_return failure;
    }
    if (filled > 0) {
      piece.resize(filled);
      co_return piece;
    }
  }
  co_return std::string();
}

Result<ClientResponse> fetch(const Url& url, ClientRequest request, ClientOptions options) {
  asio::io_context context{1};
  Client client(context.get_executor(), url, options);
  Result<ClientResponse> result = fail(ErrorKind::kInternal, "the request did not finish");
  auto run = [&]() -> asio::awaitable<void> {
    Result<ResponseHead> head = co_await client.send(std::move(request));
    if (!head) {
      result = std::unexpected(std::move(head).error());
      co_return;
    }
    ClientResponse response{head->status, std::move(head->headers), {}};
    while (true) {
      Result<std::string> piece = co_await client.read();
      if (!piece) {
        result = std::unexpected(std::move(piece).error());
        co_return;
      }
      if (piece->empty()) break;
      response.body += *piece;
    }
    result = std::move(response);
  };
  asio::co_spawn(context, run(), [&](std::exception_ptr error) {
    if (error) result = fail(ErrorKind::kInternal, "the request to http://{}:{} failed", url.host, url.port);
  });
  context.run();
  return result;
}

}  // namespace reprise::http
