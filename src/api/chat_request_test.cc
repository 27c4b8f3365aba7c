#include "api/chat_request.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_body.h"

namespace reprise {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

constexpr size_t kVocabulary = 1000;

Result<ChatRequest> parse(std::string_view text, const TemplateTraits& traits = {}) {
  auto body = parse_body(text);
  EXPECT_TRUE(body) << text;
  return parse_chat_request(std::move(*body), {kVocabulary, traits});
}
Result<ChatRequest> parse_fields(std::string_view fields) {
  return parse(fmt::format(R"({{"messages":[{{"role":"user","content":"hi"}}],{}}})", fields));
}
// The conversation after parsing, as JSON text.
std::string messages_of(std::string_view messages, const TemplateTraits& traits = {}) {
  auto request = parse(fmt::format(R"({{"messages":{}}})", messages), traits);
  return request ? json::serialize(request->input.messages)
                 : request.error().param + ": " + request.error().message;
}

TEST(ChatRequest, DefaultsAreOpenAIs) {
  auto request = parse_fields(R"("model":"m")");
  ASSERT_TRUE(request);
  const SamplingParams& sampling = request->fields.sampling;
  EXPECT_EQ(sampling.temperature, 1.0f);
  EXPECT_EQ(sampling.top_p, 1.0f);
  EXPECT_EQ(sampling.top_k, 0);
  EXPECT_EQ(sampling.logprobs, -1);
  EXPECT_EQ(request->fields.n, 1u);
  EXPECT_FALSE(request->fields.max_tokens);
  EXPECT_FALSE(request->fields.stream);
  EXPECT_TRUE(request->input.add_generation_prompt);
  EXPECT_NE(sampling.seed, parse_fields(R"("model":"m")")->fields.sampling.seed) << "an absent seed is drawn";
}

TEST(ChatRequest, ReadsEverySamplingField) {
  auto request = parse_fields(
      R"("model":"m","temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.05,"presence_penalty":-1.5,
         "frequency_penalty":2,"repetition_penalty":1.1,"logit_bias":{"5":-100,"999":1.5},"seed":-3,"n":2,
         "max_tokens":9,"min_tokens":4,"stop":["a","bc"],"include_stop_str_in_output":true,"stop_token_ids":[7,8.0],
         "ignore_eos":true,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},
         "logprobs":true,"top_logprobs":3,"return_token_ids":true,"return_tokens_as_token_ids":true,
         "user":"u","cache_salt":"s")");
  ASSERT_TRUE(request) << request.error().message;
  const GenerationFields& fields = request->fields;
  EXPECT_EQ(fields.model, "m");
  EXPECT_EQ(fields.sampling.temperature, 0.5f);
  EXPECT_EQ(fields.sampling.top_p, 0.9f);
  EXPECT_EQ(fields.sampling.top_k, 40);
  EXPECT_EQ(fields.sampling.min_p, 0.05f);
  EXPECT_EQ(fields.sampling.presence_penalty, -1.5f);
  EXPECT_EQ(fields.sampling.frequency_penalty, 2.0f);
  EXPECT_EQ(fields.sampling.repetition_penalty, 1.1f);
  EXPECT_THAT(fields.sampling.logit_bias, ::testing::ElementsAre(std::pair<TokenId, float>(5, -100),
                                                                 std::pair<TokenId, float>(999, 1.5)));
  EXPECT_EQ(fields.sampling.seed, static_cast<uint64_t>(-3));
  EXPECT_EQ(fields.sampling.logprobs, 3);
  EXPECT_EQ(fields.n, 2u);
  EXPECT_EQ(fields.max_tokens, 9u);
  EXPECT_EQ(fields.min_tokens, 4u);
  EXPECT_THAT(fields.stop, ::testing::ElementsAre("a", "bc"));
  EXPECT_TRUE(fields.include_stop);
  EXPECT_THAT(fields.stop_token_ids, ::testing::ElementsAre(7, 8));
  EXPECT_TRUE(fields.ignore_eos && fields.stream && fields.include_usage && fields.continuous_usage);
  EXPECT_TRUE(fields.return_token_ids && fields.tokens_as_ids);
  EXPECT_EQ(fields.session, "u");
  EXPECT_EQ(fields.cache_salt, "s");
}

TEST(ChatRequest, MaxCompletionTokensWinsAndCacheKeyIsTheSession) {
  auto request =
      parse_fields(R"("max_tokens":5,"max_completion_tokens":6,"user":"u","prompt_cache_key":"k")");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->fields.max_tokens, 6u);
  EXPECT_EQ(request->fields.session, "k");
}

TEST(ChatRequest, NullMeansNotGivenAndUnknownFieldsAreIgnored) {
  auto request = parse_fields(
      R"("temperature":null,"stop":null,"tools":null,"logit_bias":null,"stream_options":null,"tool_choice":null,
         "response_format":null,"frobnicate":{"x":[1]},"store":false,"metadata":{"a":"b"},"service_tier":"auto")");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->fields.sampling.temperature, 1.0f);
}

struct BadField {
  const char* fields;
  const char* param;
};
class ChatRequestRejects : public ::testing::TestWithParam<BadField> {};
TEST_P(ChatRequestRejects, NamingTheParameter) {
  auto request = parse_fields(GetParam().fields);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().param, GetParam().param);
  EXPECT_FALSE(request.error().message.empty());
}
INSTANTIATE_TEST_SUITE_P(
    Fields, ChatRequestRejects,
    ::testing::Values(
        BadField{R"("temperature":"hot")", "temperature"}, BadField{R"("temperature":2.1)", "temperature"},
        BadField{R"("temperature":-0.1)", "temperature"}, BadField{R"("temperature":1e999)", "temperature"},
        BadField{R"("top_p":1.01)", "top_p"}, BadField{R"("top_k":1.5)", "top_k"},
        BadField{R"("top_k":-2)", "top_k"}, BadField{R"("min_p":-1)", "min_p"},
        BadField{R"("presence_penalty":3)", "presence_penalty"},
        BadField{R"("frequency_penalty":[])", "frequency_penalty"},
        BadField{R"("repetition_penalty":0)", "repetition_penalty"},
        BadField{R"("logit_bias":[1])", "logit_bias"}, BadField{R"("logit_bias":{"x":1})", "logit_bias"},
        BadField{R"("logit_bias":{"1000":1})", "logit_bias"},
        BadField{R"("logit_bias":{"-1":1})", "logit_bias"},
        BadField{R"("logit_bias":{"1":101})", "logit_bias.1"},
        BadField{R"("logit_bias":{"1":"a"})", "logit_bias.1"}, BadField{R"("seed":1.5)", "seed"},
        BadField{R"("seed":99999999999999999999)", "seed"}, BadField{R"("n":0)", "n"},
        BadField{R"("n":129)", "n"}, BadField{R"("n":true)", "n"},
        BadField{R"("max_tokens":0)", "max_tokens"},
        BadField{R"("max_completion_tokens":"9")", "max_completion_tokens"},
        BadField{R"("max_tokens":3,"min_tokens":4)", "min_tokens"}, BadField{R"("stop":5)", "stop"},
        BadField{R"("stop":["a",1])", "stop"}, BadField{R"("stop":"")", "stop"},
        BadField{R"("stop_token_ids":[1000])", "stop_token_ids[0]"},
        BadField{R"("stop_token_ids":[1,"2"])", "stop_token_ids[1]"},
        BadField{R"("ignore_eos":1)", "ignore_eos"}, BadField{R"("stream":"yes")", "stream"},
        BadField{R"("stream_options":true)", "stream_options"},
        BadField{R"("stream_options":{"include_usage":2})", "stream_options.include_usage"},
        BadField{R"("logprobs":5)", "logprobs"},
        BadField{R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
        BadField{R"("top_logprobs":2)", "top_logprobs"}, BadField{R"("model":7)", "model"},
        BadField{R"("tools":{})", "tools"}, BadField{R"("tools":[1])", "tools[0]"},
        BadField{R"("tools":[{"type":"function"}])", "tools[0].function"},
        BadField{R"("tools":[{"type":"function","function":{}}])", "tools[0].function.name"},
        BadField{R"("tool_choice":"sometimes")", "tool_choice"},
        BadField{R"("tool_choice":1)", "tool_choice"},
        BadField{R"("chat_template_kwargs":[])", "chat_template_kwargs"},
        BadField{R"("chat_template_kwargs":{"a":1,"messages":[]})", "chat_template_kwargs.messages"},
        BadField{R"("chat_template_kwargs":{"bos_token":"x"})", "chat_template_kwargs.bos_token"},
        BadField{R"("reasoning_effort":"heroic")", "reasoning_effort"},
        BadField{R"("enable_thinking":"yes")", "enable_thinking"},
        BadField{R"("continue_final_message":1)", "continue_final_message"},
        BadField{R"("continue_final_message":true)", "continue_final_message"},
        BadField{R"("continue_final_message":true,"add_generation_prompt":true)", "add_generation_prompt"},
        BadField{R"("user":1)", "user"},
        BadField{R"("response_format":{"type":"json_object"})", "response_format"},
        BadField{R"("response_format":"text")", "response_format"}));

TEST(ChatRequest, SaysThatResponseFormatsAreUnsupported) {
  auto request = parse_fields(R"("response_format":{"type":"json_schema","json_schema":{}})");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(request.error().message, HasSubstr("unsupported"));
  EXPECT_TRUE(parse_fields(R"("response_format":{"type":"text"})"));
}

TEST(ChatRequest, BoundsStopsAndNames) {
  std::string many = "\"stop\":[\"a\"";
  for (int i = 0; i < 256; ++i) many += ",\"a\"";
  EXPECT_EQ(parse_fields(many + "]").error().param, "stop");
  EXPECT_EQ(parse_fields("\"stop\":\"" + std::string(70'000, 'x') + "\"").error().param, "stop");
  EXPECT_EQ(parse_fields("\"model\":\"" + std::string(513, 'x') + "\"").error().param, "model");
}

TEST(ChatMessages, PartsAndStringsGiveTheSameConversation) {
  EXPECT_EQ(
      messages_of(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])"),
      R"([{"role":"user","content":"a\nb"}])");
  EXPECT_EQ(
      messages_of(
          R"([{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}])"),
      messages_of(R"([{"role":"user","content":"a"}])"));
}

TEST(ChatMessages, WhatIsNoTextLeavesAPlaceholder) {
  EXPECT_EQ(
      messages_of(
          R"([{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:,"}}]}])"),
      R"([{"role":"user","content":"see\n[image_url omitted: this model reads text only]"}])");
}

TEST(ChatMessages, CountsWhatItLeavesOutOrRefusesItWhenStrict) {
  const std::string_view body = R"({"messages":[{"role":"user","content":[{"type":"image_url"},
      {"type":"input_image"},{"type":"input_audio"},{"type":"video_url"},{"type":"file"},{"type":"hologram"},
      {"type":"text","text":"see"}]}]})";
  const auto lenient = parse(body);
  ASSERT_TRUE(lenient) << lenient.error().message;
  const OmittedParts& omitted = lenient->omitted;
  EXPECT_EQ(omitted.images, 2u);
  EXPECT_EQ(omitted.audio, 1u);
  EXPECT_EQ(omitted.video, 1u);
  EXPECT_EQ(omitted.files, 1u);
  EXPECT_EQ(omitted.others, 1u);
  const auto strict = parse_chat_request(
      *parse_body(body), {.vocabulary = kVocabulary, .traits = {}, .strict_modalities = true});
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(strict.error().param, "messages[0].content[0].type");
}

TEST(ChatMessages, NullContentStaysBesideToolCallsOnly) {
  EXPECT_EQ(messages_of(R"([{"role":"user","content":null}])"), R"([{"role":"user","content":""}])");
  EXPECT_EQ(messages_of(R"([{"role":"assistant"}])"), R"([{"role":"assistant","content":""}])");
  EXPECT_EQ(
      messages_of(
          R"([{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}])"),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]}])");
}

TEST(ChatMessages, ToolCallArgumentsBecomeObjectsInTheirOrder) {
  auto arguments = [](std::string_view text) {
    return messages_of(fmt::format(
        R"([{{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"f","arguments":{}}}}}]}}])",
        text));
  };
  auto expected = [](std::string_view text) {
    return fmt::format(
        R"([{{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"f","arguments":{}}}}}]}}])",
        text);
  };
  EXPECT_EQ(arguments(R"("{\"z\": 1, \"a\": [true, null]}")"), expected(R"({"z":1,"a":[true,null]})"));
  EXPECT_EQ(arguments(R"({"z":1})"), expected(R"({"z":1})"));
  EXPECT_EQ(arguments(R"("")"), expected("{}"));
  EXPECT_EQ(arguments("null"), expected("{}"));
  EXPECT_EQ(arguments(R"("{broken")"), expected(R"("{broken")")) << "text that is no object stays as it is";
  EXPECT_EQ(arguments(R"("[1]")"), expected(R"("[1]")"));
  EXPECT_THAT(arguments("5"), HasSubstr("messages[0].tool_calls[0].function.arguments"));
}

TEST(ChatMessages, DeveloperIsSystemUnlessTheTemplateKnowsIt) {
  EXPECT_EQ(messages_of(R"([{"role":"developer","content":"x"}])"), R"([{"role":"system","content":"x"}])");
  EXPECT_EQ(messages_of(R"([{"role":"developer","content":"x"}])", {.developer_role = true}),
            R"([{"role":"developer","content":"x"}])");
}

TEST(ChatMessages, ReasoningIsKeptUnderOneName) {
  EXPECT_EQ(messages_of(R"([{"role":"assistant","content":"a","reasoning_content":"r"}])"),
            R"([{"role":"assistant","content":"a","reasoning_content":"r"}])");
  EXPECT_THAT(messages_of(R"([{"role":"assistant","content":"a","reasoning":"r"}])"),
              HasSubstr(R"("reasoning_content":"r")"));
  EXPECT_EQ(messages_of(R"([{"role":"assistant","content":"a","reasoning_content":null}])"),
            R"([{"role":"assistant","content":"a"}])");
  EXPECT_EQ(messages_of(R"([{"role":"assistant","content":"a","tool_calls":[]}])"),
            R"([{"role":"assistant","content":"a"}])");
}

TEST(ChatMessages, FaultsNameTheirPlace) {
  EXPECT_THAT(messages_of("[]"), HasSubstr("messages: "));
  EXPECT_THAT(messages_of("[1]"), HasSubstr("messages[0]: "));
  EXPECT_THAT(messages_of(R"([{"content":"x"}])"), HasSubstr("messages[0].role: "));
  EXPECT_THAT(messages_of(R"([{"role":"robot","content":"x"}])"), HasSubstr("messages[0].role: "));
  EXPECT_THAT(messages_of(R"([{"role":"user","content":"x"},{"role":"user","content":5}])"),
              HasSubstr("messages[1].content: "));
  EXPECT_THAT(messages_of(R"([{"role":"user","content":[5]}])"), HasSubstr("messages[0].content[0]: "));
  EXPECT_THAT(messages_of(R"([{"role":"user","content":[{"type":"text"}]}])"),
              HasSubstr("messages[0].content[0].text: "));
  EXPECT_THAT(messages_of(R"([{"role":"assistant","tool_calls":[{}]}])"),
              HasSubstr("messages[0].tool_calls[0].function: "));
  EXPECT_THAT(messages_of(R"([{"role":"assistant","tool_calls":[{"function":{}}]}])"),
              HasSubstr("messages[0].tool_calls[0].function.name: "));
  EXPECT_THAT(messages_of(R"([{"role":"tool","tool_call_id":5,"content":"x"}])"),
              HasSubstr("messages[0].tool_call_id: "));
}

TEST(ChatRequest, ToolsReachTheTemplateAsTheyCame) {
  auto request =
      parse_fields(R"("tools":[{"type":"function","function":{"name":"f","parameters":{"z":1,"a":2}}},
      {"type":"web_search"},{"type":"namespace","tools":[]}],"tool_choice":"auto","parallel_tool_calls":true)");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(json::serialize(request->input.tools),
            R"([{"type":"function","function":{"name":"f","parameters":{"z":1,"a":2}}}])");
}

TEST(ChatRequest, TemplateVariablesPass) {
  auto request = parse_fields(
      R"("chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"high","add_generation_prompt":false)");
  ASSERT_TRUE(request);
  EXPECT_EQ(json::serialize(request->input.extra), R"({"reasoning_effort":"high","enable_thinking":false})");
  EXPECT_FALSE(request->input.add_generation_prompt);
}

TEST(ChatRequest, EffortReachesTemplatesThatOnlySwitchThinking) {
  const auto variables = [](std::string_view fields, TemplateTraits traits) {
    const auto request =
        parse(fmt::format(R"({{"messages":[{{"role":"user","content":"hi"}}],{}}})", fields), traits);
    return request ? json::serialize(request->input.extra) : request.error().message;
  };
  const TemplateTraits switches{.thinking = true};
  EXPECT_EQ(variables(R"("reasoning_effort":"none")", switches),
            R"({"reasoning_effort":"none","enable_thinking":false,"thinking":false})");
  EXPECT_EQ(variables(R"("reasoning_effort":"high")", switches),
            R"({"reasoning_effort":"high","enable_thinking":true,"thinking":true})");
  EXPECT_EQ(variables(R"("reasoning_effort":"low")", {.effort = true, .thinking = true}),
            R"({"reasoning_effort":"low"})");
  EXPECT_EQ(variables(R"("reasoning_effort":"high","enable_thinking":false)", switches),
            R"({"reasoning_effort":"high","enable_thinking":false,"thinking":false})")
      << "the field of that name wins";
  EXPECT_EQ(variables(R"("enable_thinking":true,"chat_template_kwargs":{"enable_thinking":false})", switches),
            R"({"enable_thinking":false,"thinking":true})");
}

TEST(ChatRequest, ContinuesOnlyAnAnswerBegun) {
  const auto input = [](std::string_view last) {
    return parse(fmt::format(
        R"({{"continue_final_message":true,"messages":[{{"role":"user","content":"hi"}},{}]}})", last));
  };
  const auto begun = input(R"({"role":"assistant","content":[{"type":"text","text":"The"}]})");
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_TRUE(begun->input.continue_final_message);
  EXPECT_FALSE(begun->input.add_generation_prompt);
  for (const char* last :
       {R"({"role":"assistant","content":""})", R"({"role":"assistant","content":null})",
        R"({"role":"user","content":"x"})",
        R"({"role":"assistant","content":"x","tool_calls":[{"function":{"name":"f"}}]})"}) {
    ASSERT_FALSE(input(last)) << last;
    EXPECT_EQ(input(last).error().param, "continue_final_message");
  }
}

TEST(ChoiceSeed, FirstChoiceKeepsTheSeedAndOthersDiffer) {
  EXPECT_EQ(choice_seed(7, 0), 7u);
  EXPECT_NE(choice_seed(7, 1), choice_seed(7, 2));
  EXPECT_EQ(choice_seed(7, 1), choice_seed(7, 1));
}

TEST(ChatRequest, WhatIsLeftOutIsSampledAsTheModelRecommends) {
  ChatLimits limits{.vocabulary = 100};
  limits.sampling.temperature = 0.6f;
  auto request = parse_chat_request(
      boost::json::parse(R"({"messages": [{"role": "user", "content": "a"}], "top_p": 0.5})").as_object(),
      limits);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->fields.sampling.temperature, 0.6f);
  EXPECT_EQ(request->fields.sampling.top_p, 0.5f);
}

}  // namespace
}  // namespace reprise
