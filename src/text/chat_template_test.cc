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
  EXPECT_EQ(t->render(hello()).value().text, "<s>Hi</s>NoneNoneTrue");
}

TEST(ChatTemplate, ToolsAreSeenWhenThereAreSome) {
  const auto t = ChatTemplate::parse("{% if tools %}{{ tools | tojson }}{% else %}none{% endif %}", "", "");
  ChatInput input = hello();
  EXPECT_EQ(t->render(input).value().text, "none");
  input.tools =
      boost::json::parse(R"([{"type": "function", "big": 18446744073709551615, "f": 1.0}])").as_array();
  EXPECT_EQ(t->render(input).value().text,
            R"([{"type": "function", "big": 18446744073709551615, "f": 1.0}])");
}

TEST(ChatTemplate, ExtraVariablesWin) {
  const auto t =
      ChatTemplate::parse("{{ enable_thinking }}{{ add_generation_prompt }}{{ bos_token }}", "<s>", "");
  ChatInput input = hello();
  input.extra = {{"enable_thinking", false}, {"add_generation_prompt", "x"}, {"bos_token", "B"}};
  EXPECT_EQ(t->render(input).value().text, "FalsexB");
}

TEST(ChatTemplate, NowIsTheCallersClockInUtc) {
  const auto t = ChatTemplate::parse("{{ strftime_now('%d %b %Y %H:%M:%S') }}", "", "");
  ChatInput input = hello();
  input.now = 86'399;
  EXPECT_EQ(t->render(input).value().text, "01 Jan 1970 23:59:59");
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
      for (int i = 0; i < 50; ++i) wrong += t->render(input).value_or(MarkedText()).text != wanted;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// The text with what the template itself wrote in brackets.
std::string marked(const MarkedText& prompt) {
  std::string out;
  size_t done = 0;
  for (const TextSpan& span : prompt.own) {
    out.append(prompt.text, done, span.begin - done).append("[");
    out.append(prompt.text, span.begin, span.end - span.begin).append("]");
    done = span.end;
  }
  return out.append(prompt.text, done);
}

std::string marked(const std::string& source, const std::string& content = "u<x>u") {
  ChatInput input;
  input.messages.push_back(boost::json::object{{"role", "user"}, {"content", content}, {"name", "n"}});
  input.tools.push_back(boost::json::object{{"k", "v"}});
  const auto prompt = ChatTemplate::parse(source, "<s>", "</s>")->render(input);
  return prompt ? marked(*prompt) : prompt.error().message;
}

TEST(ChatTemplate, MarksWhatTheTemplateItselfWrote) {
  // Text, literals, the begin and end tokens, and roles, which the caller has checked.
  EXPECT_EQ(marked("a{{ 'b\\x63' ~ \"d\" 'e' }}{{ bos_token + eos_token }}"), "[abcde<s></s>]");
  EXPECT_EQ(marked("{% for m in messages %}{{ '<|' + m.role|upper + '|>' + m['content'] }}{% endfor %}"),
            "[<|USER|>]u<x>u");
  EXPECT_EQ(marked("{{ messages[0].name }}{{ tools|tojson }}"), R"(n[{"k": "v"}])")
      << "punctuation of JSON is nobody's, and so is everything that is not known to be the template's";
}

TEST(ChatTemplate, MarksSurviveWhatTemplatesDoToText) {
  const std::string c = "{% set c = messages[0].content %}";
  EXPECT_EQ(marked(c + "{{ ('<s>' ~ c ~ '</s>')|trim }}"), "[<s>]u<x>u[</s>]");
  EXPECT_EQ(marked(c + "{{ (' <s>' + c).strip().split('u') | join('<|>') }}"), "[<s><|>]<x>[<|>]");
  EXPECT_EQ(marked(c + "{{ ('<s>' ~ c)[2:6] }}"), "[>]u<x");
  EXPECT_EQ(marked(c + "{{ c.replace('<x>', '<s>') }}{{ '%s-%s' % ('a', c) }}{{ '{}={}'.format('k', c) }}"),
            "u[<s>]u[a-]u<x>u[k=]u<x>u");
  EXPECT_EQ(marked(c + "{% macro f(x) %}<a>{{ x }}</a>{% endmacro %}{{ f(c) }}{{ f('t') }}"),
            "[<a>]u<x>u[</a><a>t</a>]");
  EXPECT_EQ(marked(c + "{% set b %}<a>{{ c }}{% endset %}|{{ b }}|{% filter upper %}<a>{% endfilter %}"),
            "[|<a>]u<x>u[|<A>]");
  EXPECT_EQ(marked(c + "{% set ns = namespace(t='') %}{% for i in range(3) %}{% set ns.t = ns.t ~ '<' ~ c "
                       "~ '>' %}{% endfor %}{{ ns.t }}"),
            "[<]u<x>u[><]u<x>u[><]u<x>u[>]");
  EXPECT_EQ(marked(c + "{{ ('<' ~ c ~ '>')|upper }}"), "<U<X>U>") << "changed as a whole: nobody's";
  EXPECT_EQ(marked("{% for p in messages[0].content.split('<x>') %}{{ p }}<x>{% endfor %}"), "u[<x>]u[<x>]");
}

TEST(ChatTemplate, ContinuesTheLastMessageAtItsEnd) {
  const auto continued = [](const std::string& source, const std::string& begun) {
    ChatInput input;
    input.messages = {{{"role", "user"}, {"content", "u"}}, {{"role", "assistant"}, {"content", begun}}};
    input.add_generation_prompt = false;
    input.continue_final_message = true;
    const auto prompt = ChatTemplate::parse(source, "", "")->render(input);
    return prompt ? marked(*prompt) : prompt.error().message;
  };
  const std::string keeps =
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}see <end> above";
  EXPECT_EQ(continued(keeps, "<"), "[<user>]u[<end>\n<assistant>]<");
  EXPECT_EQ(continued(keeps, ">"), "[<user>]u[<end>\n<assistant>]>");
  EXPECT_EQ(continued(keeps, "<end>"), "[<user>]u[<end>\n<assistant>]<end>");
  EXPECT_EQ(continued(keeps, " a \n"), "[<user>]u[<end>\n<assistant>] a \n");
  EXPECT_EQ(continued(keeps, "\n"), "[<user>]u[<end>\n<assistant>]\n");
  const std::string strips = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}<end>{% endfor %}";
  EXPECT_EQ(continued(strips, " a \n"), "[<user>]u[<end><assistant>]a");
  EXPECT_EQ(continued(strips, "\n"), "[<user>]u[<end><assistant>]");
  EXPECT_EQ(continued("{{ messages[0].content }}", "a"),
            "it does not show the last message as it was sent, so that cannot be continued");
}

TEST(ChatTemplate, ExtraVariablesAreTheUsers) {
  const auto t = ChatTemplate::parse("{{ bos_token }}{{ style }}", "<s>", "");
  ChatInput input = hello();
  input.extra = {{"bos_token", "<s>"}, {"style", "<s>"}};
  EXPECT_EQ(marked(t->render(input).value()), "<s><s>");
}

TEST(ChatTemplate, RenderingLeavesTheInputAsItWas) {
  const auto t = ChatTemplate::parse(
      "{% set _ = messages.append(1) %}{% set _ = messages[0].update({'role': 'x'}) %}{{ messages|length }}",
      "", "");
  const ChatInput input = hello();
  EXPECT_EQ(t->render(input).value().text, "2");
  EXPECT_EQ(input.messages, hello().messages);
}

}  // namespace
}  // namespace reprise
