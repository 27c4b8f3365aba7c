// One io_context, run for one request after the other, with one connection kept between them. From the first
// look for the server on, and from a prompt to the end of its answer, SIGINT counts as an interrupt and
// closes the connection: the server notices and stops the generation. At the prompt it has its default
// effect.
#include "app/chat.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>

#include <boost/asio.hpp>
#include <boost/json.hpp>
#include <unistd.h>

#include "app/conversation.h"
#include "http/client.h"
#include "http/sse.h"

namespace reprise {
namespace {

namespace asio = boost::asio;

constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells say it
constexpr Nanos kLongestLoad = 1800 * kSecond;

class Chat {
 public:
  Chat(const ChatOptions& options, const http::Url& url)
      : options_(options),
        client_(context_.get_executor(), url),
        conversation_(options),
        model_(options.model),
        on_terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)),
        colour_(isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR")) {}

  int run() {
    if (Result<void> found = find_server(); !found) return complain(found.error());
    return on_terminal_ ? talk() : answer_once();
  }

 private:
  int talk() {
    std::printf(
        "%s%s at %s. Ctrl-C stops an answer, Ctrl-D leaves, /clear starts anew, a \\ at the end of a line "
        "continues it.%s\n",
        dim(), for_terminal(model_).c_str(), options_.url.c_str(), plain());
    std::string prompt;
    while (read_prompt(prompt)) {
      if (prompt.find_first_not_of(" \t\n") == std::string::npos) continue;
      if (prompt == "/exit" || prompt == "/quit") break;
      if (prompt == "/clear") {
        conversation_.clear();
        continue;
      }
      const Result<void> answered = answer(prompt);
      if (!answered && answered.error().kind != ErrorKind::kCancelled) complain(answered.error());
    }
    std::puts("");
    return 0;
  }

  int answer_once() {
    std::string prompt{std::istreambuf_iterator<char>(std::cin), {}};
    if (prompt.ends_with('\n')) prompt.pop_back();
    if (prompt.find_first_not_of(" \t\r\n") == std::string::npos) {
      return complain({ErrorKind::kInvalid, "standard input holds no prompt", ""});
    }
    const Result<void> answered = answer(prompt);
    if (interrupts_ > 0) return kInterrupted;
    return answered ? 0 : complain(answered.error());
  }

  // False at the end of the input.
  bool read_prompt(std::string& prompt) {
    prompt.clear();
    std::string line;
    for (const char* mark = "> ";; mark = ". ") {
      std::printf("%s%s%s", bold(), mark, plain());
      std::fflush(stdout);
      if (!std::getline(std::cin, line)) return false;
      const bool more = line.ends_with('\\');
      if (more) line.pop_back();
      prompt += line;
      if (!more) return true;
      prompt += '\n';
    }
  }

  // While it lives Ctrl-C is an interrupt, also between two requests. A second one leaves at once.
  class CtrlC {
   public:
    explicit CtrlC(Chat& chat) : chat_(chat), signals_(chat.context_, SIGINT) {
      chat_.interrupts_ = 0;
      chat_.context_.restart();
      watch();
    }
    ~CtrlC() {
      signals_.cancel();
      while (waiting_) chat_.context_.run_one();
    }
    CtrlC(const CtrlC&) = delete;
    CtrlC& operator=(const CtrlC&) = delete;

    // Counts what came while no request ran.
    bool interrupted() {
      chat_.context_.poll();
      return chat_.interrupts_ > 0;
    }

   private:
    void watch() {
      waiting_ = true;
      signals_.async_wait([this](boost::system::error_code error, int) {
        waiting_ = false;
        if (error) return;
        if (++chat_.interrupts_ > 1) std::_Exit(kInterrupted);  // the first has not helped
        chat_.client_.close();
        watch();
      });
    }
    Chat& chat_;
    asio::signal_set signals_;
    bool waiting_ = false;
  };

  // Runs one request to its end, under a CtrlC.
  Result<void> drive(asio::awaitable<Result<void>> work) {
    std::optional<Result<void>> result;
    asio::co_spawn(context_, std::move(work), [&](std::exception_ptr thrown, Result<void> outcome) {
      result =
          thrown ? fail(ErrorKind::kInternal, "the conversation broke off unexpectedly") : std::move(outcome);
    });
    while (!result) context_.run_one();
    return std::move(*result);
  }

  // Says early and plainly when there is no server, waits for one that is still loading, and learns what it
  // serves.
  Result<void> find_server() {
    const Nanos start = now();
    CtrlC ctrl_c(*this);
    std::string body;
    bool loading = true;
    while (loading) {
      const Result<void> listed = drive(list_models(body, loading));
      if (loading && now() - start < kLongestLoad && !ctrl_c.interrupted()) {
        show_waiting(listed.error().message, now() - start);
        TRY(drive(pause()));
        continue;
      }
      show_waiting("", 0);
      if (ctrl_c.interrupted()) return fail(ErrorKind::kCancelled, "interrupted");
      if (!listed) return listed;
    }
    if (!model_.empty()) return {};
    boost::system::error_code error;
    const boost::json::value answer = boost::json::parse(body, error);
    const auto* object = error ? nullptr : answer.if_object();
    const auto* data = object ? object->if_contains("data") : nullptr;
    const auto* list = data ? data->if_array() : nullptr;
    const auto* first = list && !list->empty() ? list->front().if_object() : nullptr;
    const auto* id = first ? first->if_contains("id") : nullptr;
    if (!id || !id->is_string()) {
      return fail(ErrorKind::kInternal, "{} names no model; is it an OpenAI-compatible server?",
                  options_.url);
    }
    model_ = std::string(id->get_string().data(), id->get_string().size());
    return {};
  }

  // `loading`: there is a server, and it says that it is not ready.
  asio::awaitable<Result<void>> list_models(std::string& body, bool& loading) {
    loading = false;
    http::ClientRequest request = make_request("GET", "/v1/models");
    const auto head = co_await client_.send(std::move(request));
    if (!head) co_return unreachable(head.error());
    const auto rest = co_await read_rest();
    if (!rest) co_return std::unexpected(rest.error());
    loading = head->status == 503;
    if (head->status != 200) co_return fail(ErrorKind::kInvalid, "{}", error_message(head->status, *rest));
    body = *rest;
    co_return Result<void>();
  }

  asio::awaitable<Result<void>> pause() {
    asio::steady_timer timer(context_, std::chrono::milliseconds(500));
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (interrupts_ > 0) co_return fail(ErrorKind::kCancelled, "interrupted");
    co_return Result<void>();
  }

  // One line that is drawn over; cleared by an empty text.
  static void show_waiting(const std::string& text, Nanos waited) {
    if (isatty(STDERR_FILENO) != 1) return;
    std::fputs("\r\033[K", stderr);
    if (!text.empty()) std::fprintf(stderr, "%s %.0f s", for_terminal(text).c_str(), to_seconds(waited));
    std::fflush(stderr);
  }

  Result<void> answer(const std::string& prompt) {
    std::string text;
    Speed speed;
    CtrlC ctrl_c(*this);
    const Result<void> result = drive(stream(prompt, text, speed));
    if (!text.empty())
      conversation_.remember(prompt, text);  // also what was cut short: the next turn may refer to it
    if (on_terminal_) {
      std::printf("%s\n%s", plain(), text.empty() || text.ends_with('\n') ? "" : "\n");
      if (speed.pieces > 0) {
        std::printf("%s%s%s%s\n\n", dim(), speed_line(speed).c_str(), interrupts_ > 0 ? ", stopped" : "",
                    plain());
      }
    } else if (!text.empty() && !text.ends_with('\n')) {
      std::puts("");
    }
    std::fflush(stdout);
    return result;
  }

  asio::awaitable<Result<void>> stream(const std::string& prompt, std::string& text, Speed& speed) {
    http::ClientRequest request = make_request("POST", "/v1/chat/completions");
    request.headers.set("Content-Type", "application/json").set("Accept", "text/event-stream");
    request.body = conversation_.request(model_, prompt);
    speed.sent = now();
    const auto head = co_await client_.send(std::move(request));
    if (!head) co_return unreachable(head.error());
    if (head->status != 200) {
      const auto rest = co_await read_rest();
      if (!rest) co_return std::unexpected(rest.error());
      co_return fail(ErrorKind::kInvalid, "{}", error_message(head->status, *rest));
    }
    http::SseParser parser;
    Result<void> outcome;
    bool done = false;
    const auto on_event = [&](http::SseEvent event) {
      if (done || !outcome) return;
      if (event.data == "[DONE]") {
        done = true;
        return;
      }
      Result<Piece> piece = parse_piece(event.data);
      if (piece) {
        show(*piece, text, speed);
      } else {
        outcome = std::unexpected(std::move(piece).error());
      }
    };
    while (true) {
      const auto bytes = co_await client_.read();
      if (!bytes) co_return std::unexpected(bytes.error());
      if (bytes->empty()) break;
      if (Result<void> fed = parser.feed(*bytes, on_event); !fed) co_return fed;
      if (!outcome) co_return outcome;
    }
    if (!done)
      co_return fail(ErrorKind::kInternal, "the server ended the stream before the answer was complete");
    co_return Result<void>();
  }

  void show(const Piece& piece, std::string& text, Speed& speed) {
    if (piece.prompt_tokens) speed.prompt_tokens = piece.prompt_tokens;
    if (piece.cached_tokens) speed.cached_tokens = piece.cached_tokens;
    if (piece.output_tokens) speed.output_tokens = piece.output_tokens;
    if (!piece.text.empty() || !piece.reasoning.empty()) {
      speed.last = now();
      if (speed.pieces++ == 0) speed.first = speed.last;
    }
    if (on_terminal_ && !piece.reasoning.empty()) {
      std::printf("%s%s%s", dim(), for_terminal(piece.reasoning).c_str(), plain());
      reasoning_open_ = true;
    }
    if (!piece.text.empty()) {
      if (std::exchange(reasoning_open_, false)) std::fputs("\n\n", stdout);
      const std::string shown = isatty(STDOUT_FILENO) ? for_terminal(piece.text) : piece.text;
      std::fwrite(shown.data(), 1, shown.size(), stdout);
      text += piece.text;
    }
    if (piece.finish_reason == "length" && on_terminal_) {
      std::printf("%s [cut: token limit reached]%s", dim(), plain());
    }
    std::fflush(stdout);
  }

  asio::awaitable<Result<std::string>> read_rest() {
    std::string body;
    while (body.size() < (1 << 20)) {
      const auto piece = co_await client_.read();
      if (!piece) co_return std::unexpected(piece.error());
      if (piece->empty()) break;
      body += *piece;
    }
    co_return body;
  }

  http::ClientRequest make_request(std::string method, std::string target) const {
    http::ClientRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    if (!options_.api_key.empty()) request.headers.set("Authorization", "Bearer " + options_.api_key);
    return request;
  }

  static std::unexpected<Error> unreachable(const Error& error) {
    Error told = error;
    if (told.kind == ErrorKind::kUnavailable) told.message += "; is `./dev serve` running?";
    return std::unexpected(std::move(told));
  }

  int complain(const Error& error) const {
    if (error.kind == ErrorKind::kCancelled) return kInterrupted;
    std::fprintf(stderr, "%s\n", for_terminal(error.message).c_str());
    return 1;
  }

  const char* dim() const { return colour_ ? "\033[2m" : ""; }
  const char* bold() const { return colour_ ? "\033[1m" : ""; }
  const char* plain() const { return colour_ ? "\033[0m" : ""; }

  const ChatOptions options_;
  asio::io_context context_{1};
  http::Client client_;
  Conversation conversation_;
  std::string model_;
  const bool on_terminal_;
  const bool colour_;
  bool reasoning_open_ = false;
  int interrupts_ = 0;  // since there is a CtrlC
};

}  // namespace

int run_chat(const ChatOptions& options) {
  const Result<http::Url> url = http::parse_url(options.url);
  if (!url) {
    std::fprintf(stderr, "--url %s\n", url.error().message.c_str());
    return 1;
  }
  return Chat(options, *url).run();
}

}  // namespace reprise
