#include "api/answer_writer.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "api/error_policy.h"
#include "api/json_text.h"
#include "http/sse.h"

namespace reprise {
namespace json = boost::json;
using http::asio::awaitable;
namespace {

// GCC 12 destroys temporaries of a co_await expression that were never made when the coroutine leaves early.
// Hence, here and in session.cc: what is awaited gets only references and plain values, and no condition
// holds a co_await.

// Chunks differ in one element of "choices"; the text before it is made once.
class StreamWriter final : public AnswerWriter {
 public:
  StreamWriter(http::Exchange& exchange, const AnswerFormat& format, AnswerHead head, size_t choices,
               StreamOptions options)
      : exchange_(exchange), format_(format), id_(head.id), choices_(choices), options_(options) {
    json::object members;
    members["id"] = head.id;
    members["object"] = format.stream_object();
    members["created"] = head.created;
    members["model"] = head.model;
    head_ = json_text(members);
    head_.back() = ',';
  }

  awaitable<bool> add(size_t choice, Piece& piece, const Usage& so_far) override {
    bool begun = co_await begin();
    if (!begun) co_return false;
    json::object element = format_.chunk(choice, piece);
    std::string bytes = chunk(&element, options_.continuous_usage ? &so_far : nullptr);
    co_return co_await write(bytes);
  }

  awaitable<bool> ended(size_t choice, const Choice& ended) override {
    bool begun = co_await begin();
    if (!begun) co_return false;
    json::object element = format_.closing(choice, ended);
    std::string bytes = chunk(&element, nullptr);
    co_return co_await write(bytes);
  }

  awaitable<bool> finish(const Usage& usage, const ChoiceTimes& longest) override {
    std::string bytes;
    if (options_.include_usage) {
      json::object timings = timings_object(longest, usage, choices_);
      bytes = chunk(nullptr, &usage, &timings);
    }
    bytes += http::sse_data("[DONE]");
    bool sent = co_await write(bytes);
    co_return sent&& exchange_.end();
  }

  awaitable<void> fail(const Error& error, const Stats& stats) override {
    if (!exchange_.started()) {
      exchange_.respond(error_response(error, &stats));
      co_return;
    }
    std::string bytes = http::sse_data(json_text(error_object(error)));
    bool sent = co_await write(bytes);
    if (sent) exchange_.end();
  }

  std::optional<Nanos> patience() const override {
    return std::max<Nanos>(last_write_ + options_.keep_alive - now(), kMillisecond);
  }

  awaitable<bool> idle() override {
    if (now() - last_write_ < options_.keep_alive) co_return true;
    bool begun = co_await begin();
    if (!begun) co_return false;
    std::string bytes = http::sse_comment("waiting");
    co_return co_await write(bytes);
  }

 private:
  // The head, and each choice's opening.
  awaitable<bool> begin() {
    if (exchange_.started()) co_return true;
    http::Headers headers;
    headers.set("Content-Type", "text/event-stream; charset=utf-8");
    headers.set("Cache-Control", "no-cache");
    headers.set("X-Accel-Buffering", "no");  // proxies of the nginx family would collect the stream
    headers.set("X-Request-Id", id_);
    if (!exchange_.begin(200, headers)) co_return false;
    std::string bytes;
    for (size_t choice = 0; choice < choices_; ++choice) {
      std::optional<json::object> opening = format_.opening(choice);
      if (opening) bytes += chunk(&*opening, nullptr);
    }
    if (bytes.empty()) co_return true;
    co_return co_await write(bytes);
  }

  std::string chunk(const json::object* element, const Usage* usage,
                    const json::object* timings = nullptr) const {
    std::string text = head_ + "\"choices\":[";
    if (element) text += json_text(*element);
    text += ']';
    if (usage) {
      text += ",\"usage\":" + json_text(usage_object(*usage));
    } else if (options_.include_usage) {
      text += ",\"usage\":null";
    }
    if (timings) text += ",\"timings\":" + json_text(*timings);
    text += '}';
    return http::sse_data(text);
  }

  awaitable<bool> write(std::string& bytes) {
    last_write_ = now();
    return exchange_.write(std::move(bytes));
  }

  http::Exchange& exchange_;
  const AnswerFormat& format_;
  std::string id_;
  std::string head_;  // `{"id":...,"model":...,`
  size_t choices_;
  StreamOptions options_;
  Nanos last_write_ = now();
};

class WholeWriter final : public AnswerWriter {
 public:
  WholeWriter(http::Exchange& exchange, const AnswerFormat& format, AnswerHead head, size_t choices,
              Selection selection)
      : exchange_(exchange),
        format_(format),
        head_(std::move(head)),
        selection_(selection),
        pieces_(choices),
        ended_(choices) {}

  awaitable<bool> add(size_t choice, Piece& piece, const Usage&) override {
    pieces_[choice].append(std::move(piece));
    co_return true;
  }

  awaitable<bool> ended(size_t choice, const Choice& ended) override {
    ended_[choice] = &ended;  // to be worded at the end: scores of its prompt may still come
    co_return true;
  }

  awaitable<bool> finish(const Usage& usage, const ChoiceTimes& longest) override {
    json::object body;
    body["id"] = head_.id;
    body["object"] = format_.whole_object();
    body["created"] = head_.created;
    body["model"] = head_.model;
    body["choices"] = selected();
    body["usage"] = usage_object(usage);
    body["timings"] = timings_object(longest, usage, pieces_.size());
    http::Response response;
    response.headers.set("Content-Type", "application/json");
    response.headers.set("X-Request-Id", head_.id);
    response.body = json_text(body);
    co_return exchange_.respond(std::move(response));
  }

  awaitable<void> fail(const Error& error, const Stats& stats) override {
    exchange_.respond(error_response(error, &stats));
    co_return;
  }

  std::optional<Nanos> patience() const override { return std::nullopt; }
  awaitable<bool> idle() override { co_return true; }

 private:
  json::array selected() {
    json::array kept;
    std::vector<size_t> order(selection_.per_prompt);
    for (size_t first = 0; first < pieces_.size(); first += selection_.per_prompt) {
      std::iota(order.begin(), order.end(), first);
      if (selection_.returned < selection_.per_prompt) {
        std::ranges::stable_sort(order, std::ranges::greater(),
                                 [this](size_t choice) { return ended_[choice]->mean_logprob(); });
      }
      for (size_t i = 0; i < selection_.returned; ++i) {
        const Piece all = std::exchange(pieces_[order[i]], {});
        json::object element = format_.whole(order[i], all, *ended_[order[i]]);
        element["index"] = kept.size();
        kept.push_back(std::move(element));
      }
    }
    return kept;
  }

  http::Exchange& exchange_;
  const AnswerFormat& format_;
  AnswerHead head_;
  const Selection selection_;
  std::vector<Piece> pieces_;
  std::vector<const Choice*> ended_;
};

}  // namespace

std::unique_ptr<AnswerWriter> stream_writer(http::Exchange& exchange, const AnswerFormat& format,
                                            AnswerHead head, size_t choices, StreamOptions options) {
  return std::make_unique<StreamWriter>(exchange, format, std::move(head), choices, options);
}

std::unique_ptr<AnswerWriter> whole_writer(http::Exchange& exchange, const AnswerFormat& format,
                                           AnswerHead head, size_t choices, Selection selection) {
  return std::make_unique<WholeWriter>(exchange, format, std::move(head), choices, selection);
}

}  // namespace reprise
