// Clients that leave and clients that send nonsense.
#include <random>
#include <set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "api/testing/api_fixture.h"

namespace reprise::testing {
namespace {

namespace json = boost::json;

class HostileTest : public ApiFixture {
 protected:
  // Sends a request, reads what comes until `pieces` pieces of the body have arrived, and hangs up.
  // With 0 it hangs up once the engine has got the request.
  void send_and_leave(const json::object& body, size_t pieces) {
    boost::asio::io_context context;
    http::Client client(context.get_executor(), url());
    const size_t before = backend_.submitted().size();
    bool left = false;
    auto conversation = [&]() -> boost::asio::awaitable<void> {
      http::ClientRequest request{"POST", "/v1/chat/completions", {}, json::serialize(body)};
      auto head = co_await client.send(std::move(request));
      for (size_t i = 0; head && i < pieces; ++i) co_await client.read();
      client.close();
      left = true;
    };
    boost::asio::co_spawn(context, conversation(), boost::asio::detached);
    while (pieces == 0 && backend_.submitted().size() == before)
      context.run_for(std::chrono::milliseconds(1));
    if (pieces == 0) {
      context.restart();
      client.close();
    }
    context.run();
    EXPECT_TRUE(left);
  }
  bool cancelled(RequestId id) {
    return backend_.wait_until([id](const FakeBackend& backend) { return backend.was_cancelled(id); });
  }
};

TEST_F(HostileTest, ClientThatLeavesWhileQueuedIsCancelled) {
  start();
  send_and_leave(chat(), 0);  // waiting for a whole answer
  EXPECT_TRUE(cancelled(1));
  json::object body = chat();
  body["stream"] = true;
  body["n"] = 2;
  send_and_leave(body, 0);
  EXPECT_TRUE(cancelled(2) && cancelled(3));
}

TEST_F(HostileTest, ClientThatLeavesTheStreamIsCancelled) {
  start();
  backend_.answer_with([](const Generation&, size_t) {
    return std::vector<Event>{Started{0}, one_token('a'), one_token('b')};  // and never an end
  });
  json::object body = chat();
  body["stream"] = true;
  send_and_leave(body, 2);
  EXPECT_TRUE(cancelled(1));
  EXPECT_TRUE(backend_.all_ended());
  // The engine is told from the net thread; the handler counts a moment later.
  std::string metrics;
  EXPECT_TRUE(backend_.wait_until([&](const FakeBackend&) {
    metrics = get("/metrics").body;
    return metrics.find("finished_reason=\"abort\"} 1\n") != std::string::npos;
  })) << metrics;
}

// Bodies that are wrong in every way: each field with each wrong type, cut, with bytes changed.
std::vector<std::string> malformed_bodies() {
  const std::string good =
      R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"hi"}]},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},)"
      R"({"role":"tool","tool_call_id":"1","content":"r"}],"prompt":"hi","temperature":0.5,"top_p":0.9,"top_k":5,"min_p":0.1,)"
      R"("presence_penalty":0,"frequency_penalty":0,"repetition_penalty":1,"logit_bias":{"5":1},"seed":1,"n":1,"max_tokens":5,)"
      R"("min_tokens":0,"stop":["x"],"stop_token_ids":[1],"ignore_eos":false,"stream":false,"stream_options":{"include_usage":true},)"
      R"("logprobs":true,"top_logprobs":2,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto",)"
      R"("response_format":{"type":"text"},"chat_template_kwargs":{},"user":"u","echo":false,"suffix":null,"best_of":1})";
  std::vector<std::string> bodies = {"",     " ", "{",    "}",  "[]",          "[",  "null",
                                     "true", "0", "\"\"", "{}", "{\"\":\"\"}", "\0x"};
  const json::object object = json::parse(good).as_object();
  for (const auto& [key, unused] : object) {
    for (const char* wrong : {"null", "true", "-1", "1e400", "1.5", "\"x\"", "[]", "[[[]]]", "{}",
                              "{\"a\":{}}", "[null]", "[\"a\",1]", "18446744073709551615", "\"\\ud800\""}) {
      json::error_code fault;
      json::value value = json::parse(wrong, fault);
      json::object changed = object;
      changed[key] = "MARK";
      std::string text = json::serialize(changed);
      text.replace(text.find("\"MARK\""), 6, wrong);
      bodies.push_back(text);
    }
  }
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) bodies.push_back(good.substr(0, random() % good.size()));
  for (int i = 0; i < 200; ++i) {
    std::string changed = good;
    for (int k = 0; k < 1 + i % 4; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    bodies.push_back(changed);
  }
  for (size_t depth : {10, 127, 128, 1000, 100'000})
    bodies.push_back("{\"messages\":" + std::string(depth, '['));
  return bodies;
}

TEST_F(HostileTest, MalformedBodiesNeverFailTheServer) {
  start();
  answer_text("x");
  size_t refused = 0;
  std::set<std::string> params;
  const std::vector<std::string> bodies = malformed_bodies();
  ASSERT_GT(bodies.size(), 100u);
  for (const std::string& body : bodies) {
    for (const char* path : {"/v1/chat/completions", "/v1/completions", "/tokenize", "/detokenize"}) {
      http::ClientResponse response = send("POST", path, body);
      if (response.status == 200) continue;
      ASSERT_EQ(response.status, 400) << path << " " << body;
      json::object error = error_of(response);
      EXPECT_EQ(error.at("type"), "invalid_request_error");
      EXPECT_FALSE(error.at("message").as_string().empty());
      if (error.at("param").is_string()) params.insert(std::string(error.at("param").as_string()));
      ++refused;
    }
  }
  EXPECT_GT(refused, bodies.size());
  EXPECT_GT(params.size(), 30u) << "errors name the parameter";
}

TEST_F(HostileTest, LargeBodiesAreServed) {
  start();
  answer_text("x");
  json::object body = chat();
  body["metadata"] = std::string(20 << 20, 'x');  // unknown to us, hence ignored
  EXPECT_EQ(post("/v1/chat/completions", body).status, 200);
  body["prompt"].emplace_array().resize(2'000'000, 'a');
  EXPECT_EQ(error_of(post("/v1/completions", body)).at("code"), "context_length_exceeded");
}

}  // namespace
}  // namespace reprise::testing
