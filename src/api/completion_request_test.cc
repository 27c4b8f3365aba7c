#include "api/completion_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_body.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;

Result<CompletionRequest> parse(std::string_view text) {
  auto body = parse_body(text);
  EXPECT_TRUE(body) << text;
  return parse_completion_request(std::move(*body), 1000);
}
using Ids = std::vector<TokenId>;

TEST(CompletionRequest, ReadsEveryFormOfPrompt) {
  EXPECT_THAT(parse(R"({"prompt":"a"})")->prompts, ElementsAre(PromptInput("a")));
  EXPECT_THAT(parse(R"({"prompt":["a","b"]})")->prompts, ElementsAre(PromptInput("a"), PromptInput("b")));
  EXPECT_THAT(parse(R"({"prompt":[1,2,999]})")->prompts, ElementsAre(PromptInput(Ids{1, 2, 999})));
  EXPECT_THAT(parse(R"({"prompt":[[1],[2,3]]})")->prompts,
              ElementsAre(PromptInput(Ids{1}), PromptInput(Ids{2, 3})));
}

TEST(CompletionRequest, ReadsItsOwnFields) {
  auto request =
      parse(R"({"prompt":"a","logprobs":0,"best_of":3,"n":2,"suffix":"z","add_special_tokens":false})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->fields.sampling.logprobs, 0);
  EXPECT_FALSE(request->add_special_tokens);
  EXPECT_EQ(request->best_of, 3u);
  EXPECT_EQ(request->suffix, "z");
  EXPECT_EQ(parse(R"({"prompt":"a","n":2})")->best_of, 2u);
  EXPECT_TRUE(parse(R"({"prompt":"a","echo":true,"logprobs":1})")->echo);
  EXPECT_EQ(parse(R"({"prompt":"a","max_tokens":0})")->fields.max_tokens, 0u);
  EXPECT_EQ(parse(R"({"prompt":"a"})")->fields.sampling.logprobs, -1);
}

struct Bad {
  const char* body;
  const char* param;
  ErrorKind kind = ErrorKind::kInvalid;
};
class CompletionRequestRejects : public ::testing::TestWithParam<Bad> {};
TEST_P(CompletionRequestRejects, NamingTheParameter) {
  auto request = parse(GetParam().body);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().param, GetParam().param);
  EXPECT_EQ(request.error().kind, GetParam().kind);
}
INSTANTIATE_TEST_SUITE_P(
    Bodies, CompletionRequestRejects,
    ::testing::Values(Bad{R"({})", "prompt"}, Bad{R"({"prompt":null})", "prompt"},
                      Bad{R"({"prompt":5})", "prompt"}, Bad{R"({"prompt":[]})", "prompt"},
                      Bad{R"({"prompt":{"a":1}})", "prompt"}, Bad{R"({"prompt":[-1]})", "prompt[0]"},
                      Bad{R"({"prompt":[1,1000]})", "prompt[1]"}, Bad{R"({"prompt":[1,"a"]})", "prompt[1]"},
                      Bad{R"({"prompt":["a",1]})", "prompt[1]"}, Bad{R"({"prompt":["a",[1]]})", "prompt[1]"},
                      Bad{R"({"prompt":[[1],[2.5]]})", "prompt[1][0]"},
                      Bad{R"({"prompt":[null]})", "prompt[0]"}, Bad{R"({"prompt":"a","suffix":5})", "suffix"},
                      Bad{R"({"prompt":"a","best_of":1,"n":2})", "best_of"},
                      Bad{R"({"prompt":"a","best_of":2,"stream":true})", "best_of"},
                      Bad{R"({"prompt":["a","b"],"best_of":65})", "best_of"},
                      Bad{R"({"prompt":"a","max_tokens":-1})", "max_tokens"},
                      Bad{R"({"prompt":"a","logprobs":true})", "logprobs"},
                      Bad{R"({"prompt":"a","logprobs":21})", "logprobs"},
                      Bad{R"({"prompt":["a","b"],"n":65})", "n"},
                      Bad{R"({"prompt":"a","stop":[""]})", "stop"}));

TEST(CompletionRequest, WhatIsLeftOutIsSampledAsTheModelRecommends) {
  SamplingParams defaults;
  defaults.temperature = 0.6f;
  defaults.top_p = 0.9f;
  defaults.top_k = 20;
  defaults.min_p = 0.05f;
  defaults.repetition_penalty = 1.05f;
  const auto sampling = [&](const char* body) {
    auto request = parse_completion_request(boost::json::parse(body).as_object(), 100, defaults);
    EXPECT_TRUE(request) << request.error().message;
    return request->fields.sampling;
  };
  const SamplingParams left_out = sampling(R"({"prompt": "a"})");
  EXPECT_EQ(left_out.temperature, 0.6f);
  EXPECT_EQ(left_out.top_p, 0.9f);
  EXPECT_EQ(left_out.top_k, 20);
  EXPECT_EQ(left_out.min_p, 0.05f);
  EXPECT_EQ(left_out.repetition_penalty, 1.05f);
  const SamplingParams given = sampling(
      R"({"prompt": "a", "temperature": 0, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1})");
  EXPECT_EQ(given.temperature, 0);
  EXPECT_EQ(given.top_p, 1);
  EXPECT_EQ(given.top_k, 0);
  EXPECT_EQ(given.min_p, 0);
  EXPECT_EQ(given.repetition_penalty, 1);
}

}  // namespace
}  // namespace reprise
