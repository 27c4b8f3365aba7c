#include "text/chat_template.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace reprise {
namespace {

ChatInput hello() {
  ChatInput input;
  input.messages = boost::json::parse(R"([{"role": "user", "content": "Hi"}])").as_array();
  return input;
}

TEST(ChatTemplate, DefinesTheVariablesOfTransformers) {
  const auto t = ChatTemplate::parse(
      "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ tools }}{{ documents }}{{ "
      "add_generation_prompt }}",
      "<s>", "</s>");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->render(hello()).value(), "<s>Hi</s>NoneNoneTrue");
}

TEST(ChatTemplate, ToolsAreSeenWhenThereAreSome) {
  const auto t = ChatTemplate::parse("{% if tools %}{{ tools | tojson }}{% else %}none{% endif %}", "", "");
  ChatInput input = hello();
  EXPECT_EQ(t->render(input).value(), "none");
  input.tools =
      boost::json::parse(R"([{"type": "function", "big": 18446744073709551615, "f": 1.0}])").as_array();
  EXPECT_EQ(t->render(input).value(), R"([{"type": "function", "big": 18446744073709551615, "f": 1.0}])");
}

TEST(ChatTemplate, ExtraVariablesWin) {
  const auto t =
      ChatTemplate::parse("{{ enable_thinking }}{{ add_generation_prompt }}{{ bos_token }}", "<s>", "");
  ChatInput input = hello();
  input.extra = {{"enable_thinking", false}, {"add_generation_prompt", "x"}, {"bos_token", "B"}};
  EXPECT_EQ(t->render(input).value(), "FalsexB");
}

TEST(ChatTemplate, NowIsTheCallersClockInUtc) {
  const auto t = ChatTemplate::parse("{{ strftime_now('%d %b %Y %H:%M:%S') }}", "", "");
  ChatInput input = hello();
  input.now = 86'399;
  EXPECT_EQ(t->render(input).value(), "01 Jan 1970 23:59:59");
}

TEST(ChatTemplate, RendersOfSeveralThreadsDoNotMeet) {
  const auto t = ChatTemplate::parse(
      "{% set ns = namespace(s='') %}{% for i in range(200) %}{% set ns.s = ns.s ~ messages[0].content %}{% "
      "endfor %}"
      "{{ ns.s }}",
      "", "");
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      ChatInput input = hello();
      const std::string word(3, static_cast<char>('a' + n));
      input.messages[0].as_object()["content"] = word;
      std::string wanted;
      for (int i = 0; i < 200; ++i) wanted += word;
      for (int i = 0; i < 50; ++i) wrong += t->render(input).value_or("") != wanted;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(ChatTemplate, RenderingLeavesTheInputAsItWas) {
  const auto t = ChatTemplate::parse(
      "{% set _ = messages.append(1) %}{% set _ = messages[0].update({'role': 'x'}) %}{{ messages|length }}",
      "", "");
  const ChatInput input = hello();
  EXPECT_EQ(t->render(input).value(), "2");
  EXPECT_EQ(input.messages, hello().messages);
}

}  // namespace
}  // namespace reprise
