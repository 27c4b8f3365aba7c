// An Api over a fake engine behind a real HTTP server on loopback, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "api/api.h"
#include "api/testing/fake_model.h"
#include "http/client.h"
#include "http/server.h"
#include "http/sse.h"

namespace reprise::testing {

inline constexpr uint32_t kContext = 200;
inline constexpr const char* kTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

// One event stream, parsed. Everything but comments and the final [DONE] is a chunk.
struct StreamedAnswer {
  int status = 0;
  http::Headers headers;
  std::vector<boost::json::object> chunks;
  bool done = false;  // [DONE] came, and last
  size_t keep_alives = 0;
  std::string raw;

  // Deltas of one choice, joined: chat content or completion text.
  std::string text(int64_t choice = 0) const {
    std::string joined;
    for_choice(choice, [&](const boost::json::object& element) {
      if (const auto* delta = element.if_contains("delta")) {
        if (const auto* content = delta->as_object().if_contains("content")) joined += content->as_string();
      } else {
        joined += element.at("text").as_string();
      }
    });
    return joined;
  }
  std::string finish_reason(int64_t choice = 0) const {
    std::string reason;
    for_choice(choice, [&](const boost::json::object& element) {
      if (element.at("finish_reason").is_string()) reason += element.at("finish_reason").as_string();
    });
    return reason;
  }
  template <typename F>
  void for_choice(int64_t choice, F&& f) const {
    for (const boost::json::object& chunk : chunks) {
      if (!chunk.contains("choices")) continue;
      for (const boost::json::value& element : chunk.at("choices").as_array()) {
        if (element.at("index").to_number<int64_t>() == choice) f(element.as_object());
      }
    }
  }
};

class ApiFixture : public ::testing::Test {
 protected:
  void start(ApiOptions options = {}, bool load = true) {
    options.version = "1.2.3";
    api_ = std::make_unique<Api>(options);
    http::ServerOptions server = server_options_;
    server.worker_nice = 0;
    server.refusal = api_->refusal();
    auto started = http::Server::start(server, api_->handler());
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    if (load) load_model();
  }
  void load_model() { api_->set_model(test_model()); }
  ServedModel test_model() {
    ServedModel model;
    model.info.name = "test-model";
    model.info.context_length = kContext;
    model.info.chat_template = kTemplate;
    model.info.sampling.temperature = 0.6f;
    model.info.weight_types = {{"Q4_1", 90}, {"F32", 10}};
    model.info.kv_type = "bf16";
    model.info.stop_tokens = {FakeTokenizer::kEnd};
    auto parsed = ChatTemplate::parse(kTemplate, "", "");
    CHECK(parsed);
    model.chat_template = std::move(*parsed);
    model.tokenizer = std::make_unique<FakeTokenizer>(pieces_);
    model.backend = &backend_;
    model.created = 1234;
    return model;
  }
  void TearDown() override {
    if (server_) server_->stop(0);
    EXPECT_TRUE(backend_.all_ended()) << "a generation runs on";
  }

  // The engine answers every request with this text, a token a byte.
  void answer_text(std::string text, FinishReason reason = FinishReason::kStop) {
    backend_.answer_with([ids = FakeTokenizer().encode(text), reason](const Generation&, size_t) {
      return script_of(ids, reason);
    });
  }

  http::Url url() const { return {"127.0.0.1", server_->port(), ""}; }
  http::ClientResponse send(std::string method, std::string target, std::string body = "",
                            const http::Headers& headers = {}) {
    http::ClientRequest request{std::move(method), std::move(target), headers, std::move(body)};
    auto response = http::fetch(url(), std::move(request));
    EXPECT_TRUE(response) << response.error().message;
    return response ? std::move(*response) : http::ClientResponse{};
  }
  http::ClientResponse get(std::string target, const http::Headers& headers = {}) {
    return send("GET", std::move(target), "", headers);
  }
  http::ClientResponse post(std::string target, const boost::json::value& body,
                            const http::Headers& headers = {}) {
    return send("POST", std::move(target), boost::json::serialize(body), headers);
  }
  StreamedAnswer stream(std::string target, boost::json::object body, const http::Headers& headers = {}) {
    body["stream"] = true;
    http::ClientResponse response = post(std::move(target), body, headers);
    StreamedAnswer answer;
    answer.status = response.status;
    answer.headers = response.headers;
    answer.raw = response.body;
    for (size_t at = answer.raw.find(": waiting\n\n"); at != std::string::npos;
         at = answer.raw.find(": waiting\n\n", at + 1)) {
      ++answer.keep_alives;
    }
    http::SseParser parser;
    auto fed = parser.feed(response.body, [&](http::SseEvent event) {
      EXPECT_FALSE(answer.done) << "after [DONE]: " << event.data;
      if (event.data == "[DONE]") {
        answer.done = true;
      } else {
        answer.chunks.push_back(boost::json::parse(event.data).as_object());
      }
    });
    EXPECT_TRUE(fed);
    return answer;
  }

  static boost::json::object json_of(const http::ClientResponse& response) {
    boost::json::error_code fault;
    boost::json::value value = boost::json::parse(response.body, fault);
    EXPECT_FALSE(fault) << response.body;
    return value.is_object() ? value.as_object() : boost::json::object{};
  }
  static boost::json::object chat(std::string_view text = "hi") {
    boost::json::object message, body;
    message["role"] = "user";
    message["content"] = text;
    body["model"] = "any";
    body["messages"].emplace_array().push_back(std::move(message));
    return body;
  }
  // The "error" object of a refused request, checked for its shape.
  static boost::json::object error_of(const http::ClientResponse& response) {
    boost::json::object body = json_of(response);
    EXPECT_TRUE(body.contains("error")) << response.body;
    if (!body.contains("error")) return {};
    boost::json::object error = body.at("error").as_object();
    for (const char* member : {"message", "type", "param", "code"})
      EXPECT_TRUE(error.contains(member)) << response.body;
    EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
    return error;
  }

  std::vector<std::string> pieces_;     // further tokens of the model, to be set before start()
  http::ServerOptions server_options_;  // to be changed before start()
  FakeBackend backend_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::Server> server_;
};

inline const boost::json::object& first_choice(const boost::json::object& answer) {
  return answer.at("choices").as_array().at(0).as_object();
}

}  // namespace reprise::testing
