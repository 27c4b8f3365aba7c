// Whole and streamed answers, over real sockets with a scripted engine.
#include <random>

#include <gmock/gmock.h>

#include "api/testing/api_fixture.h"

namespace reprise::testing {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AnswerTest : public ApiFixture {};

json::object with(json::object body, std::string_view fields) {
  const json::object added = json::parse(fields).as_object();
  for (const auto& [key, value] : added) body[key] = value;
  return body;
}

TEST_F(AnswerTest, WholeChatAnswerHasTheSdksShape) {
  start();
  answer_text("hello");
  json::object answer = json_of(post("/v1/chat/completions", chat()));
  EXPECT_EQ(answer.at("object"), "chat.completion");
  EXPECT_EQ(answer.at("model"), "any") << "the name is echoed";
  EXPECT_TRUE(answer.at("id").as_string().starts_with("chatcmpl-"));
  const json::object& choice = first_choice(answer);
  EXPECT_EQ(choice.at("index"), 0);
  EXPECT_EQ(json::serialize(choice.at("message")),
            R"({"role":"assistant","content":"hello","refusal":null})");
  EXPECT_EQ(choice.at("finish_reason"), "stop");
  EXPECT_TRUE(choice.at("logprobs").is_null());
  EXPECT_EQ(answer.at("usage").at("completion_tokens"), 6) << "the stop token counts";
}

TEST_F(AnswerTest, StreamFollowsTheChatSequence) {
  start();
  answer_text("hey", FinishReason::kLength);
  StreamedAnswer answer =
      stream("/v1/chat/completions", with(chat(), R"({"stream_options":{"include_usage":true}})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers.get("Content-Type").value_or(""), HasSubstr("text/event-stream"));
  ASSERT_EQ(answer.chunks.size(), 6u);
  EXPECT_EQ(json::serialize(first_choice(answer.chunks[0]).at("delta")),
            R"({"role":"assistant","content":""})");
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(json::serialize(first_choice(answer.chunks[i]).at("delta")),
              fmt::format(R"({{"content":"{}"}})", "hey"[i - 1]));
    EXPECT_TRUE(first_choice(answer.chunks[i]).at("finish_reason").is_null());
  }
  EXPECT_EQ(json::serialize(first_choice(answer.chunks[4]).at("delta")), "{}");
  EXPECT_EQ(first_choice(answer.chunks[4]).at("finish_reason"), "length");
  EXPECT_EQ(json::serialize(answer.chunks[5].at("choices")), "[]");
  EXPECT_EQ(answer.chunks[5].at("usage").at("completion_tokens"), 3);
  EXPECT_TRUE(answer.done);
  for (size_t i = 0; i < answer.chunks.size(); ++i) {
    EXPECT_EQ(answer.chunks[i].at("id"), answer.chunks[0].at("id"));
    EXPECT_EQ(answer.chunks[i].at("object"), "chat.completion.chunk");
    EXPECT_EQ(answer.chunks[i].at("model"), "any");
    if (i < 5) {
      EXPECT_TRUE(answer.chunks[i].at("usage").is_null());
    }
  }
  EXPECT_EQ(answer.raw.find("tool_calls"), std::string::npos);
}

TEST_F(AnswerTest, WithoutIncludeUsageThereIsNone) {
  start();
  answer_text("hey");
  StreamedAnswer answer = stream("/v1/chat/completions", chat());
  for (const json::object& chunk : answer.chunks) {
    EXPECT_FALSE(chunk.contains("usage"));
    EXPECT_EQ(chunk.at("choices").as_array().size(), 1u);
  }
  EXPECT_TRUE(answer.done);
}

TEST_F(AnswerTest, ContinuousUsageCountsUp) {
  start();
  answer_text("hey");
  StreamedAnswer answer =
      stream("/v1/chat/completions",
             with(chat(), R"({"stream_options":{"include_usage":true,"continuous_usage_stats":true}})"));
  for (int i = 1; i < 4; ++i) EXPECT_EQ(answer.chunks[i].at("usage").at("completion_tokens"), i);
}

TEST_F(AnswerTest, UsageAndTimingsComeFromTheEngine) {
  start();
  backend_.answer_with([](const Generation&, size_t) {
    return script_of({'a', 'b', 'c', 'd', 'e'}, FinishReason::kLength, 10);
  });
  json::object body = with(chat(), R"({"stream_options":{"include_usage":true}})");
  json::object whole = json_of(post("/v1/chat/completions", body));
  StreamedAnswer streamed = stream("/v1/chat/completions", body);
  const auto prompt = static_cast<int64_t>(backend_.submitted()[0].prompt.size());
  for (const json::object& answer : {whole, streamed.chunks.back()}) {
    EXPECT_EQ(
        json::serialize(answer.at("usage")),
        fmt::format(
            R"({{"prompt_tokens":{},"completion_tokens":5,"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":10}}}})",
            prompt, prompt + 5));
    const json::object& timings = answer.at("timings").as_object();
    EXPECT_EQ(timings.at("queue_ms"), 2.0);
    EXPECT_EQ(timings.at("prefill_ms"), 30.0);
    EXPECT_EQ(timings.at("decode_ms"), 400.0);
    EXPECT_EQ(timings.at("decode_tokens_per_second"), 10.0) << "the first token is prefill's";
    EXPECT_NEAR(timings.at("prefill_tokens_per_second").as_double(), static_cast<double>(prompt - 10) / 0.03,
                0.01);
  }
}

// The central property: however the text is cut into tokens and whatever stops it, the stream says what the
// whole says.
TEST_F(AnswerTest, StreamedDeltasJoinToTheWholeAnswer) {
  std::mt19937 random(7);
  const std::string text = "def f(x):\n    return \U0001F600 + x  # \u65e5\u672c \xe2\x82 end STOP more\n";
  for (int i = 0; i < 300; ++i) pieces_.push_back(text.substr(random() % text.size(), 1 + random() % 9));
  start();
  const char* stops[] = {"null", R"("STOP")", R"(["return \ud83d\ude00","zzz"])", R"~(["\n    ","x)"])~",
                         R"("\ufffd")"};
  for (int round = 0; round < 60; ++round) {
    std::vector<TokenId> ids;
    for (size_t i = 0; i < 5 + random() % 20; ++i)
      ids.push_back(FakeTokenizer::kFirstPiece + static_cast<TokenId>(random() % 300));
    const size_t step = 1 + random() % 3;
    backend_.answer_with([&](const Generation&, size_t) {
      std::vector<Event> events = script_of(ids, FinishReason::kLength);
      std::vector<Event> joined{events.front()};
      for (size_t i = 1; i + 1 < events.size(); i += step) {  // several tokens an event, as speculation gives
        Tokens tokens;
        for (size_t k = i; k < std::min(i + step, events.size() - 1); ++k) {
          tokens.tokens.push_back(std::get<Tokens>(events[k]).tokens[0]);
        }
        joined.push_back(std::move(tokens));
      }
      joined.push_back(events.back());
      return joined;
    });
    const bool is_chat = round % 2 == 0;
    const char* path = is_chat ? "/v1/chat/completions" : "/v1/completions";
    json::object body =
        with(is_chat ? chat() : json::object{{"prompt", "p"}},
             fmt::format(R"({{"stop":{},"logprobs":{},"stream_options":{{"include_usage":true}}}})",
                         stops[random() % std::size(stops)], is_chat ? "true" : "1"));
    json::object whole = json_of(post(path, body));
    StreamedAnswer streamed = stream(path, body);
    const json::object& choice = first_choice(whole);
    std::string content(is_chat ? choice.at("message").at("content").as_string()
                                : choice.at("text").as_string());
    EXPECT_EQ(streamed.text(), content);
    EXPECT_EQ(streamed.finish_reason(), choice.at("finish_reason").as_string());
    EXPECT_EQ(streamed.chunks.back().at("usage"), whole.at("usage"));
    json::array logged;
    streamed.for_choice(0, [&](const json::object& element) {
      const char* list = is_chat ? "content" : "tokens";
      if (!element.at("logprobs").is_object()) return;
      for (const json::value& entry : element.at("logprobs").at(list).as_array()) logged.push_back(entry);
    });
    EXPECT_EQ(logged, choice.at("logprobs").at(is_chat ? "content" : "tokens").as_array());
    EXPECT_EQ(static_cast<int64_t>(logged.size()), whole.at("usage").at("completion_tokens").as_int64());
  }
}

TEST_F(AnswerTest, StopStringEndsTheGenerationInTheEngineToo) {
  start();
  std::thread client([&] {
    json::object answer = json_of(post("/v1/chat/completions", with(chat(), R"({"stop":["XY"]})")));
    EXPECT_EQ(first_choice(answer).at("message").at("content"), "ab");
    EXPECT_EQ(first_choice(answer).at("finish_reason"), "stop");
    EXPECT_EQ(first_choice(answer).at("stop_reason"), "XY");
    EXPECT_EQ(answer.at("usage").at("completion_tokens"), 4);
  });
  ASSERT_TRUE(backend_.wait_submitted(1));
  backend_.push(1, Started{0});
  for (char c : std::string_view("abXY")) backend_.push(1, one_token(c));
  EXPECT_TRUE(backend_.wait_until([](const FakeBackend& backend) { return backend.was_cancelled(1); }));
  client.join();
}

TEST_F(AnswerTest, StopStringMayBeIncluded) {
  start();
  answer_text("abXYcd");
  json::object answer = json_of(post(
      "/v1/completions", json::parse(R"({"prompt":"p","stop":"XY","include_stop_str_in_output":true})")));
  EXPECT_EQ(first_choice(answer).at("text"), "abXY");
}

TEST_F(AnswerTest, ChatLogprobsHaveTokenBytesAndAlternatives) {
  pieces_ = {"\xe2\x82", "\xac"};
  start();
  backend_.answer_with([](const Generation& generation, size_t) {
    EXPECT_EQ(generation.sampling.logprobs, 2);
    std::vector<Event> events{Started{0}};
    events.push_back(one_token(258, -0.25f, {{258, -0.25f}, {'x', -2.0f}}));
    events.push_back(one_token(259, -std::numeric_limits<float>::infinity()));
    Finished finished;
    finished.reason = FinishReason::kLength;
    finished.output_tokens = 2;
    events.push_back(finished);
    return events;
  });
  json::object answer =
      json_of(post("/v1/chat/completions", with(chat(), R"({"logprobs":true,"top_logprobs":2})")));
  EXPECT_EQ(first_choice(answer).at("message").at("content"), "\u20ac");
  EXPECT_EQ(first_choice(answer).at("logprobs"), json::parse(R"({"content":[
      {"token":"\ufffd","logprob":-0.25,"bytes":[226,130],"top_logprobs":[
        {"token":"\ufffd","logprob":-0.25,"bytes":[226,130]},{"token":"x","logprob":-2.0,"bytes":[120]}]},
      {"token":"\ufffd","logprob":-9999.0,"bytes":[172],"top_logprobs":[]}],"refusal":null})"));
}

TEST_F(AnswerTest, CompletionLogprobsHaveTheirOwnShape) {
  pieces_ = {"\xe2\x82", "\xac", "\u00e9"};
  start();
  backend_.answer_with([](const Generation&, size_t) {
    std::vector<Event> events{Started{0}};
    events.push_back(one_token(260, -1.0f, {{'x', -0.5f}}));
    events.push_back(one_token(258, -0.5f, {{258, -0.5f}}));
    events.push_back(one_token(259, -0.5f));
    Finished finished;
    finished.reason = FinishReason::kLength;
    finished.output_tokens = 3;
    events.push_back(finished);
    return events;
  });
  json::object answer =
      json_of(post("/v1/completions", json::parse(R"({"prompt":"p","logprobs":1,"return_token_ids":true})")));
  EXPECT_EQ(first_choice(answer).at("text"), "\u00e9\u20ac");
  EXPECT_EQ(first_choice(answer).at("logprobs"),
            json::parse(R"({"tokens":["\u00e9","bytes:\\xe2\\x82","bytes:\\xac"],
      "token_logprobs":[-1.0,-0.5,-0.5],
      "top_logprobs":[{"x":-0.5,"\u00e9":-1.0},{"bytes:\\xe2\\x82":-0.5},{"bytes:\\xac":-0.5}],"text_offset":[0,1,1]})"));
  EXPECT_EQ(json::serialize(first_choice(answer).at("token_ids")), "[260,258,259]");
  answer = json_of(post("/v1/completions",
                        json::parse(R"({"prompt":"p","logprobs":1,"return_tokens_as_token_ids":true})")));
  EXPECT_EQ(json::serialize(first_choice(answer).at("logprobs").at("tokens")),
            R"(["token_id:260","token_id:258","token_id:259"])");
}

TEST_F(AnswerTest, SeveralChoicesShareOneStream) {
  start();
  backend_.answer_with([](const Generation&, size_t number) {
    return script_of(FakeTokenizer().encode(fmt::format("choice {}", number % 3)), FinishReason::kLength);
  });
  json::object body = with(chat(), R"({"n":3,"stream_options":{"include_usage":true}})");
  StreamedAnswer answer = stream("/v1/chat/completions", body);
  json::object whole = json_of(post("/v1/chat/completions", body));
  std::vector<int64_t> order;
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(answer.text(i), fmt::format("choice {}", i));
    EXPECT_EQ(answer.finish_reason(i), "length");
    EXPECT_EQ(whole.at("choices").at(i).at("index"), i);
    EXPECT_EQ(json::value_to<std::string>(whole.at("choices").at(i).at("message").at("content")),
              fmt::format("choice {}", i));
  }
  for (int i = 3; i < 6; ++i) order.push_back(first_choice(answer.chunks[i]).at("index").as_int64());
  EXPECT_THAT(order, ElementsAre(0, 1, 2)) << "choices take turns";
  EXPECT_EQ(answer.chunks.back().at("usage"), whole.at("usage"));
  EXPECT_EQ(whole.at("usage").at("completion_tokens"), 24);
  EXPECT_EQ(whole.at("usage").at("prompt_tokens").as_int64(),
            static_cast<int64_t>(backend_.submitted()[0].prompt.size()))
      << "a prompt counts once";
}

TEST_F(AnswerTest, CompletionsOfManyPromptsKeepTheirOrder) {
  start();
  backend_.answer_with([](const Generation& generation, size_t) {
    return script_of({generation.prompt.back(), '!'}, FinishReason::kLength);
  });
  json::object answer =
      json_of(post("/v1/completions", json::parse(R"({"prompt":["a","b"],"n":2,"echo":true})")));
  EXPECT_EQ(answer.at("object"), "text_completion");
  std::vector<std::string> texts;
  for (const json::value& choice : answer.at("choices").as_array())
    texts.emplace_back(choice.at("text").as_string());
  EXPECT_THAT(texts, ElementsAre("aa!", "aa!", "bb!", "bb!"));
  EXPECT_EQ(answer.at("usage").at("prompt_tokens"), 4) << "two prompts, each with its begin token";
  StreamedAnswer streamed =
      stream("/v1/completions", json::parse(R"({"prompt":[[97],[98]],"echo":true})").as_object());
  EXPECT_EQ(streamed.text(0), "aa!");
  EXPECT_EQ(streamed.text(1), "bb!");
}

// The tokens' log-probabilities are -1, -2, ... by their place in the prompt, the output's -0.5.
std::vector<Event> scored(const Generation& generation, const std::vector<TokenId>& output) {
  std::vector<Event> events = script_of(output, FinishReason::kLength);
  std::vector<Event> scores;
  for (size_t i = 1; i < generation.prompt.size() && generation.prompt_logprobs >= 0;) {
    PromptTokens piece;  // of three at most
    for (size_t end = std::min(i + 3, generation.prompt.size()); i < end; ++i) {
      const float logprob = -static_cast<float>(i);
      piece.tokens.push_back({generation.prompt[i], logprob, {{generation.prompt[i], logprob}}});
    }
    scores.push_back(std::move(piece));
  }
  events.insert(events.begin() + 1, scores.begin(), scores.end());
  return events;
}

TEST_F(AnswerTest, EchoWithLogprobsScoresThePrompt) {
  start();
  backend_.answer_with([](const Generation& generation, size_t) { return scored(generation, {'!', '?'}); });
  // The begin token has no part in the text; characters count, not bytes.
  const json::object body = json::parse(R"({"prompt":"h\u00e9y","echo":true,"logprobs":1})").as_object();
  const json::object answer = json_of(post("/v1/completions", body));
  EXPECT_EQ(first_choice(answer).at("text"), "h\u00e9y!?");
  const json::object& logprobs = first_choice(answer).at("logprobs").as_object();
  EXPECT_EQ(json::serialize(logprobs.at("tokens")),
            R"(["<|im_start|>","h","bytes:\\xc3","bytes:\\xa9","y","!","?"])");
  EXPECT_EQ(json::serialize(logprobs.at("text_offset")), "[0,0,1,1,2,3,4]");
  const json::array& values = logprobs.at("token_logprobs").as_array();
  const json::array& tops = logprobs.at("top_logprobs").as_array();
  ASSERT_EQ(values.size(), 7u);
  ASSERT_EQ(tops.size(), 7u);
  EXPECT_TRUE(values[0].is_null() && tops[0].is_null()) << "nothing comes before the first token";
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(values[i].to_number<double>(), -static_cast<double>(i));
  EXPECT_EQ(values[5].to_number<double>(), -0.5);
  EXPECT_EQ(json::serialize(tops[4]), R"({"y":-4E0})");
  EXPECT_EQ(backend_.submitted()[0].prompt_logprobs, 1);

  const StreamedAnswer streamed = stream("/v1/completions", body);
  EXPECT_EQ(streamed.text(0), "h\u00e9y!?");
  json::array tokens, offsets;
  for (const json::object& chunk : streamed.chunks) {
    if (!first_choice(chunk).at("logprobs").is_object()) continue;
    const json::object& part = first_choice(chunk).at("logprobs").as_object();
    for (const json::value& token : part.at("tokens").as_array()) tokens.push_back(token);
    for (const json::value& offset : part.at("text_offset").as_array()) offsets.push_back(offset);
  }
  EXPECT_EQ(tokens, logprobs.at("tokens").as_array());
  EXPECT_EQ(offsets, logprobs.at("text_offset").as_array());
}

TEST_F(AnswerTest, AChoicesPromptIsScoredOnce) {
  start();
  // The second choice ends before the first one's scores come.
  const auto answer_late = [&](const Generation& generation, size_t number) {
    return number % 2 == 0 ? std::vector<Event>{} : scored(generation, {'?'});
  };
  backend_.answer_with(answer_late);
  const json::object body = json::parse(R"({"prompt":"hi","echo":true,"logprobs":1,"n":2})").as_object();
  std::thread late([&] {
    EXPECT_TRUE(backend_.wait_submitted(2));
    for (Event& event : scored(backend_.submitted()[0], {'!'})) backend_.push(1, std::move(event));
  });
  const json::object answer = json_of(post("/v1/completions", body));
  late.join();
  EXPECT_EQ(backend_.submitted()[0].prompt_logprobs, 1);
  EXPECT_EQ(backend_.submitted()[1].prompt_logprobs, -1);
  const json::array& choices = answer.at("choices").as_array();
  ASSERT_EQ(choices.size(), 2u);
  const char* texts[] = {"hi!", "hi?"};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(choices[i].at("text"), texts[i]);
    EXPECT_EQ(json::serialize(choices[i].at("logprobs").at("text_offset")), "[0,0,1,2]");
    EXPECT_EQ(choices[i].at("logprobs").at("token_logprobs").at(2).to_number<double>(), -2);
  }
  const http::ClientResponse refused = post("/v1/completions", with(body, R"({"stream":true})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(error_of(refused).at("param"), "n");
}

TEST_F(AnswerTest, APromptOfOneTokenHasNoScoreAtAll) {
  start();
  backend_.answer_with([](const Generation& generation, size_t) { return scored(generation, {}); });
  for (bool streamed : {false, true}) {
    const json::object body =
        json::parse(R"({"prompt":[104],"max_tokens":0,"echo":true,"logprobs":2})").as_object();
    const json::object answer =
        streamed ? stream("/v1/completions", body).chunks.front() : json_of(post("/v1/completions", body));
    EXPECT_EQ(first_choice(answer).at("text"), "h");
    EXPECT_EQ(json::serialize(first_choice(answer).at("logprobs")),
              R"({"tokens":["h"],"token_logprobs":[null],"top_logprobs":[null],"text_offset":[0]})");
  }
}

TEST_F(AnswerTest, NoTokensAskedForMeansThePromptAlone) {
  start();
  backend_.answer_with([](const Generation& generation, size_t) { return scored(generation, {}); });
  const json::object answer = json_of(post(
      "/v1/completions", json::parse(R"({"prompt":[104,105],"max_tokens":0,"echo":true,"logprobs":0})")));
  EXPECT_EQ(first_choice(answer).at("text"), "hi");
  EXPECT_EQ(first_choice(answer).at("finish_reason"), "length");
  EXPECT_EQ(json::serialize(first_choice(answer).at("logprobs").at("tokens")), R"(["h","i"])");
  EXPECT_EQ(answer.at("usage").at("completion_tokens"), 0);
  EXPECT_EQ(backend_.submitted()[0].max_tokens, 0u);
  const json::object bare =
      json_of(post("/v1/completions", json::parse(R"({"prompt":"hi","max_tokens":0})")));
  EXPECT_EQ(first_choice(bare).at("text"), "");
  EXPECT_EQ(backend_.submitted()[1].prompt_logprobs, -1) << "nothing to score";
}

TEST_F(AnswerTest, BestOfReturnsTheLikeliestOfEachPrompt) {
  start();
  // Choice i of a prompt says "0".."3"; the likelihoods rank them 2, 0, 3, 1.
  const float logprobs[] = {-0.3f, -0.9f, -0.1f, -0.5f};
  backend_.answer_with([&](const Generation& generation, size_t number) {
    EXPECT_EQ(generation.sampling.logprobs, 0) << "computed to rank by";
    std::vector<Event> events = script_of({static_cast<TokenId>('0' + number % 4)}, FinishReason::kLength);
    std::get<Tokens>(events[1]).tokens[0].logprob = logprobs[number % 4];
    return events;
  });
  json::object body{{"prompt", json::array{"a", "b"}}, {"n", 2}, {"best_of", 4}, {"echo", true}};
  const json::object answer = json_of(post("/v1/completions", body));
  const json::array& choices = answer.at("choices").as_array();
  ASSERT_EQ(choices.size(), 4u);
  const char* texts[] = {"a2", "a0", "b2", "b0"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(choices[i].at("text"), texts[i]);
    EXPECT_EQ(choices[i].at("index"), i);
    EXPECT_TRUE(choices[i].at("logprobs").is_null()) << "not asked for";
  }
  EXPECT_EQ(answer.at("usage").at("completion_tokens"), 8) << "all that were generated count";
}

TEST_F(AnswerTest, BestOfCountsTokensWithoutTextAndPutsEmptyChoicesLast) {
  start();
  // Choice 0 has no token at all, choice 1 a likely and an unlikely one without text, choice 2 one between.
  backend_.answer_with([](const Generation&, size_t number) {
    std::vector<Event> events{Started{0}};
    if (number == 1) {
      events.push_back(one_token('1', -0.1f));
      events.push_back(one_token(FakeTokenizer::kStart, -5.0f));
    }
    if (number == 2) events.push_back(one_token('2', -1.0f));
    events.push_back(Finished{.reason = FinishReason::kStop, .output_tokens = 3});
    return events;
  });
  const json::object answer =
      json_of(post("/v1/completions", json::object{{"prompt", "a"}, {"n", 2}, {"best_of", 3}}));
  const json::array& choices = answer.at("choices").as_array();
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].at("text"), "2");
  EXPECT_EQ(choices[1].at("text"), "1");
}

TEST_F(AnswerTest, ASuffixAsksForWhatIsBetween) {
  pieces_ = {"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>"};
  start();
  std::vector<TokenId> prompt, stops;
  backend_.answer_with([&](const Generation& generation, size_t) {
    prompt = generation.prompt;
    stops = generation.stop_tokens;
    return script_of({'y'});
  });
  const json::object body{{"prompt", "x<fim_suffix>"}, {"suffix", "z<fim_middle>"}};
  EXPECT_EQ(first_choice(json_of(post("/v1/completions", body))).at("text"), "y");
  const FakeTokenizer tokenizer(pieces_);
  EXPECT_EQ(tokenizer.decode(prompt, true), "<fim_prefix>x<fim_suffix><fim_suffix>z<fim_middle><fim_middle>");
  const auto count = [&](TokenId token) { return std::ranges::count(prompt, token); };
  EXPECT_EQ(count(FakeTokenizer::kFirstPiece + 1), 1) << "what the texts spell is text";
  EXPECT_EQ(count(FakeTokenizer::kFirstPiece + 2), 1);
  EXPECT_NE(std::ranges::find(stops, FakeTokenizer::kFirstPiece + 3), stops.end()) << "padding ends the gap";
}

TEST_F(AnswerTest, TheTokensAroundAGapAreThoseTheFileNames) {
  pieces_ = {"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<P>", "<S>", "<M>"};
  start({}, /*load=*/false);
  ServedModel model = test_model();
  const TokenId first = FakeTokenizer::kFirstPiece + 3;
  model.info.vocabulary.fim_prefix = first;
  model.info.vocabulary.fim_suffix = first + 1;
  model.info.vocabulary.fim_middle = first + 2;
  api_->set_model(std::move(model));
  answer_text("y");
  post("/v1/completions", json::object{{"prompt", "x"}, {"suffix", "z"}});
  ASSERT_EQ(backend_.submitted().size(), 1u);
  EXPECT_EQ(backend_.submitted()[0].prompt, (std::vector<TokenId>{first, 'x', first + 1, 'z', first + 2}));
}

TEST_F(AnswerTest, ASuffixNeedsAModelWithTokensForIt) {
  start();
  const http::ClientResponse refused =
      post("/v1/completions", json::object{{"prompt", "x"}, {"suffix", "z"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(error_of(refused).at("param"), "suffix");
}

TEST_F(AnswerTest, FailureBeforeTheFirstByteIsAStatus) {
  start();
  backend_.answer_with([](const Generation&, size_t) {
    Finished finished;
    finished.reason = FinishReason::kError;
    finished.error = {ErrorKind::kInternal, "The logits are not finite.", {}};
    return std::vector<Event>{Started{0}, finished};
  });
  for (bool streamed : {false, true}) {
    http::ClientResponse response =
        post("/v1/chat/completions", with(chat(), streamed ? R"({"stream":true})" : "{}"));
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(error_of(response).at("type"), "server_error");
  }
}

TEST_F(AnswerTest, FailureInTheStreamIsAnErrorEvent) {
  start();
  backend_.answer_with([](const Generation&, size_t) {
    Finished finished;
    finished.reason = FinishReason::kError;
    finished.error = {ErrorKind::kInternal, "The logits are not finite.", {}};
    return std::vector<Event>{Started{0}, one_token('a'), finished};
  });
  StreamedAnswer answer = stream("/v1/chat/completions", chat());
  EXPECT_EQ(answer.status, 200);
  ASSERT_EQ(answer.chunks.size(), 3u);
  EXPECT_EQ(answer.chunks[2].at("error").at("message"), "The logits are not finite.");
  EXPECT_EQ(answer.chunks[2].at("error").at("type"), "server_error");
  EXPECT_FALSE(answer.done);
  EXPECT_EQ(answer.finish_reason(), "");
}

TEST_F(AnswerTest, OneRefusedChoiceRefusesTheRequestAndCancelsTheOthers) {
  start();
  backend_.refuse_with(Error{ErrorKind::kOverloaded, "Full.", {}}, 2);
  EXPECT_EQ(post("/v1/chat/completions", with(chat(), R"({"n":3})")).status, 429);
  EXPECT_TRUE(backend_.was_cancelled(1) && backend_.was_cancelled(2));
}

TEST_F(AnswerTest, AFailedChoiceEndsTheOthers) {
  start();
  backend_.answer_with([](const Generation&, size_t number) {
    if (number == 0) return std::vector<Event>{Started{0}};  // runs on
    Finished finished;
    finished.reason = FinishReason::kError;
    finished.error = {ErrorKind::kInternal, "broken", {}};
    return std::vector<Event>{finished};
  });
  EXPECT_EQ(post("/v1/chat/completions", with(chat(), R"({"n":2})")).status, 500);
  EXPECT_TRUE(backend_.wait_until([](const FakeBackend& backend) { return backend.was_cancelled(1); }));
}

TEST_F(AnswerTest, CommentsKeepAWaitingStreamAlive) {
  start({.keep_alive = 20 * kMillisecond});
  std::thread client([&] {
    StreamedAnswer answer = stream("/v1/chat/completions", chat());
    EXPECT_GE(answer.keep_alives, 2u);
    EXPECT_EQ(json::serialize(first_choice(answer.chunks[0]).at("delta")),
              R"({"role":"assistant","content":""})");
    EXPECT_EQ(answer.text(), "ab");
    EXPECT_TRUE(answer.done);
  });
  ASSERT_TRUE(backend_.wait_submitted(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  for (Event& event : script_of({'a', 'b'})) backend_.push(1, std::move(event));
  client.join();
}

TEST_F(AnswerTest, MetricsCountWhatWasServed) {
  start();
  answer_text("abc");
  post("/v1/chat/completions", chat());
  post("/v1/chat/completions", with(chat(), R"({"temperature":9})"));
  std::string text = get("/metrics").body;
  EXPECT_THAT(
      text, HasSubstr("vllm:request_success_total{model_name=\"test-model\",finished_reason=\"stop\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("vllm:generation_tokens_total{model_name=\"test-model\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("vllm:time_to_first_token_seconds_count{model_name=\"test-model\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("vllm:inter_token_latency_seconds_count{model_name=\"test-model\"} 2\n"));
  EXPECT_THAT(text,
              HasSubstr("reprise:requests_rejected_total{model_name=\"test-model\",reason=\"invalid\"} 1\n"));
}

}  // namespace
}  // namespace reprise::testing
