// Every real template that shows calls, times conversations that hold them: rendered, taken as a model's
// answer, parsed back to the same reasoning, content and calls, however the text comes.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "text/chat_template.h"
#include "text/tool_calls/answers_for_test.h"
#include "text/tool_calls/families.h"

namespace reprise::calls {
namespace {
namespace json = boost::json;

const std::filesystem::path kTemplates = std::string(REPRISE_ROOT) + "/../shared/templates";

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

const json::array& offered() {
  static const json::array tools = json::parse(R"([
    {"type": "function", "function": {"name": "run", "description": "Runs a command.", "parameters": {"type": "object",
      "properties": {"command": {"type": "string", "description": "What to run."},
                     "timeout": {"type": "integer", "description": "Seconds."}}, "required": ["command"]}}},
    {"type": "function", "function": {"name": "edit-file", "description": "Edits a file.", "parameters": {"type": "object",
      "properties": {"path": {"type": "string", "description": "Which."}, "old": {"type": "string", "description": "Was."},
                     "new": {"type": "string", "description": "Is."}, "all": {"type": "boolean", "description": "All."},
                     "lines": {"type": "array", "description": "Lines.", "items": {"type": "integer"}},
                     "options": {"type": "object", "description": "More.", "properties": {}}},
      "required": ["path", "old", "new"]}}}
  ])")
                                       .as_array();
  return tools;
}

struct Conversation {
  std::string name, reasoning, content;
  std::vector<std::pair<std::string, std::string>> calls;  // name, arguments
};
const std::vector<Conversation>& conversations() {
  static const std::vector<Conversation> conversations = {
      {"a call", "", "", {{"run", R"({"command":"ls -l"})"}}},
      {"text and a call", "", "I look at it.", {{"run", R"({"command":"ls","timeout":20})"}}},
      {"reasoning and a call", "The user wants a list.\n\nSo: ls.", "", {{"run", R"({"command":"ls"})"}}},
      {"all",
       "Hm: {a} <b>.",
       "First ls.",
       {{"run", R"({"command":"ls"})"}, {"run", R"({"command":"pwd","timeout":5})"}}},
      {"types",
       "",
       "",
       {{"edit-file",
         R"({"all":true,"lines":[1,2,3],"new":"b","old":"a","options":{"deep":{"x":[null,1.5]}},"path":"src/a.cc"})"}}},
      {"code",
       "",
       "",
       {{"edit-file",
         R"({"new":"if (a < b && c[\"k\"]) {\n  return \"}\"; // \\n\n}","old":"<a href='x'>\n\t{{ y }}\n</a>","path":"naïve/日本 😀.cc"})"}}},
  };
  return conversations;
}

json::object message_of(const Conversation& conversation) {
  json::object message{{"role", "assistant"}, {"content", conversation.content}};
  if (!conversation.reasoning.empty()) {
    message["reasoning_content"] = conversation.reasoning;
    message["thinking"] = conversation.reasoning;  // as gpt-oss's template calls it
  }
  json::array calls;
  for (const auto& [name, arguments] : conversation.calls)
    calls.push_back({{"id", "functions." + name + ":" + std::to_string(calls.size())},
                     {"type", "function"},
                     {"function", {{"name", name}, {"arguments", json::parse(arguments)}}}});
  message["tool_calls"] = std::move(calls);
  return message;
}

// Where the model takes over in a rendered conversation, and what it wrote there.
struct Generated {
  std::string prompt, text;
};
std::optional<Generated> generated(const ChatTemplate& chat, const Conversation& conversation) {
  ChatInput input;
  input.tools = offered();
  input.messages = {json::object{{"role", "user"}, {"content", "Do it."}}};
  std::optional<Generated> best;
  for (const char* extra :
       {"{}", R"({"enable_thinking": true, "thinking": true})", R"({"enable_thinking": false})"}) {
    input.extra = json::parse(extra).as_object();
    input.add_generation_prompt = true;
    ChatInput full = input;
    full.messages.push_back(message_of(conversation));
    full.add_generation_prompt = false;
    const auto prompt = chat.render(input), whole = chat.render(full);
    if (!prompt || !whole) continue;
    const auto split = std::ranges::mismatch(prompt->text, whole->text);
    const size_t common = static_cast<size_t>(split.in1 - prompt->text.begin());
    if (best && common <= best->prompt.size()) continue;
    best = Generated{whole->text.substr(0, common), whole->text.substr(common)};
    if (common == prompt->text.size()) break;
  }
  if (!best) return std::nullopt;
  for (std::string_view end : {"\n", "<|im_end|>", "<|eot_id|>", "<|eos|>", "[e~[", "<seed:eos>",
                               "<｜end▁of▁sentence｜>", "<|call|>", "<turn|>", "<|tool_response>"}) {
    if (best->text.ends_with(end) &&
        (end != "\n" || best->text.ends_with(">\n") || best->text.ends_with("[\n")))
      best->text.resize(best->text.size() - end.size());
  }
  return best;
}

bool ends_in_reasoning(const Family& family, std::string_view prompt) {
  const std::string_view begin = family.reasoning_begin();
  const size_t at = begin.empty() ? prompt.npos : prompt.rfind(begin);
  return at != prompt.npos && prompt.find_first_not_of("\n ", at + begin.size()) == prompt.npos;
}

TEST(RoundTrip, EveryTemplatesCallsAreParsedBack) {
  if (!std::filesystem::exists(kTemplates)) GTEST_SKIP() << "no " << kTemplates;
  const Tools tools(offered());
  size_t templates = 0, compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kTemplates)) {
    if (entry.path().extension() != ".jinja") continue;
    const std::string source = read(entry.path());
    auto chat = ChatTemplate::parse(source, "<|bos|>", "<|eos|>");
    ASSERT_TRUE(chat) << entry.path();
    const Family* family = family_of(source);
    size_t of_this = 0;
    for (const Conversation& conversation : conversations()) {
      SCOPED_TRACE(entry.path().filename().string() + ", " + conversation.name);
      const auto answer = generated(*chat, conversation);
      if (!answer || !answer->text.contains(conversation.calls.back().first))
        continue;  // it does not show calls
      ASSERT_NE(family, nullptr);
      SCOPED_TRACE(answer->text);
      const bool reasoning = ends_in_reasoning(*family, answer->prompt);
      for (const bool as_tokens : {true, false}) {
        std::vector<std::string> markers;
        for (std::string_view marker : family->markers)
          markers.push_back(as_tokens ? marked(*family, marker) : std::string(marker));
        const std::string text = as_tokens ? marked(*family, answer->text) : answer->text;
        const auto parse = [&] { return Answer(*family, markers, reasoning, tools); };
        Answer whole = parse();
        whole.push(text);
        const std::string expected = whole.finish();
        std::string thought, content;
        std::vector<std::pair<std::string, std::string>> calls;
        for (const AnswerDelta& delta : whole.deltas()) {
          if (delta.kind == AnswerDelta::Kind::kReasoning) thought += delta.text;
          if (delta.kind == AnswerDelta::Kind::kContent) content += delta.text;
          if (delta.kind == AnswerDelta::Kind::kCallBegin) calls.emplace_back(delta.text, "");
          if (delta.kind == AnswerDelta::Kind::kCallArguments) calls.back().second += delta.text;
        }
        ASSERT_EQ(calls.size(), conversation.calls.size());
        for (size_t i = 0; i < calls.size(); ++i) {
          EXPECT_EQ(calls[i].first, conversation.calls[i].first);
          EXPECT_EQ(json::parse(calls[i].second), json::parse(conversation.calls[i].second));
        }
        // Some templates leave reasoning or content out, or show one as the other.
        if (answer->text.contains(conversation.reasoning) && family->name != "harmony") {
          EXPECT_EQ(thought, conversation.reasoning);
        }
        if (answer->text.contains(conversation.content) && family->name != "harmony") {
          EXPECT_EQ(content, conversation.content);
        }
        expect_same_however_cut(text, expected, 200, parse);
        if (HasFatalFailure()) return;
      }
      ++of_this;
      ++compared;
    }
    if (of_this > 0) ++templates;
  }
  EXPECT_EQ(templates, 20u);
  EXPECT_GT(compared, 90u);
}

}  // namespace
}  // namespace reprise::calls
