// Renders of real templates and small language cases against what Python's jinja2 wrote
// (tools/make_template_golden.py).
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "text/chat_template.h"
#include "text/jinja/template.h"
#include "text/jinja/unicode.h"

namespace reprise {
namespace {

constexpr int64_t kNow = 1767268800;  // 2026-01-01 12:00:00 UTC
const std::string kData = std::string(REPRISE_ROOT) + "/src/text/testdata/templates/";
const std::string kShared = std::string(REPRISE_ROOT) + "/../shared/templates/";

std::optional<std::string> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<boost::json::object> read_lines(const std::string& name) {
  std::ifstream file(kData + name);
  EXPECT_TRUE(file) << name;
  std::vector<boost::json::object> documents;
  for (std::string line; std::getline(file, line);) documents.push_back(boost::json::parse(line).as_object());
  return documents;
}

std::string text(const boost::json::value& v) { return std::string(v.as_string()); }

ChatInput to_input(const boost::json::object& o) {
  ChatInput input;
  input.messages = o.at("messages").as_array();
  input.tools = o.at("tools").as_array();
  input.add_generation_prompt = o.at("add_generation_prompt").as_bool();
  input.extra = o.at("extra").as_object();
  input.now = kNow;
  return input;
}

// Compares with a golden line's "output" or "error".
void expect_golden(const Result<MarkedText>& got, const boost::json::object& golden,
                   const std::string& what) {
  if (golden.contains("output")) {
    ASSERT_TRUE(got) << what << "\n  error: " << got.error().message
                     << "\n  wanted: " << text(golden.at("output"));
    EXPECT_EQ(got->text, text(golden.at("output"))) << what;
  } else if (golden.at("error").is_null()) {
    EXPECT_FALSE(got) << what << "\n  jinja2 fails, this rendered: " << got->text;
  } else {
    ASSERT_FALSE(got) << what << "\n  rendered: " << got->text;
    EXPECT_EQ(got.error().message, text(golden.at("error"))) << what;
    EXPECT_EQ(got.error().kind, ErrorKind::kInvalid);
  }
}

TEST(ChatTemplateGolden, RealTemplatesRenderAsInPython) {
  std::map<std::string, ChatInput> conversations;
  for (const auto& line : read_lines("conversations.jsonl")) {
    conversations[text(line.at("name"))] = to_input(line.at("input").as_object());
  }
  std::map<std::string, std::optional<ChatTemplate>> templates;
  size_t compared = 0;
  for (const auto& line : read_lines("renders.jsonl")) {
    const std::string name = text(line.at("template"));
    if (!templates.contains(name)) {
      const auto own = read(kData + name);
      const auto source = own ? own : read(kShared + name);
      ASSERT_TRUE(source) << name;
      auto parsed = ChatTemplate::parse(*source, "<|bos|>", "<|eos|>");
      ASSERT_TRUE(parsed) << name << ": " << parsed.error().message;
      templates[name] = std::move(*parsed);
    }
    const std::string conversation = text(line.at("conversation"));
    expect_golden(templates[name]->render(conversations.at(conversation)), line, name + ", " + conversation);
    ++compared;
  }
  EXPECT_EQ(templates.size(), 23u);
  EXPECT_GT(compared, 1000u);
}

// The answer begun may be as short as what the template writes behind it, or look like it.
TEST(ChatTemplateGolden, EveryTemplateContinuesAnAnswerWhereItEnds) {
  std::vector<std::filesystem::path> files{kData + "SmolLM2-135M-Instruct.jinja"};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(kShared, none)) {
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  for (const auto& file : files) {
    auto parsed = ChatTemplate::parse(*read(file.string()), "<|bos|>", "<|eos|>");
    ASSERT_TRUE(parsed) << file;
    const auto render = [&](const std::string& begun) {
      ChatInput input;
      input.messages = {{{"role", "user"}, {"content", "Say <|im_end|> > x."}},
                        {{"role", "assistant"}, {"content", begun}}};
      if (file.string().ends_with("tool_use.jinja"))  // without tools it renders nothing
        input.tools =
            boost::json::parse(
                R"([{"type":"function","function":{"name":"f","description":"d","parameters":{}}}])")
                .as_array();
      input.add_generation_prompt = false;
      input.continue_final_message = true;
      input.now = kNow;
      return parsed->render(input);
    };
    const auto opened = render("\n");
    ASSERT_TRUE(opened) << file << opened.error().message;
    const std::string opening(jinja::unicode::strip_right(opened->text));
    EXPECT_NE(opening.find("Say <|im_end|> > x."), opening.npos) << file;
    for (const std::string begun :
         {"<", ">", "|", "x", ".", "<|", "<|im_end|>", "<|eos|>", "e", "\xc3\xa9", "The answer is",
          "two\nlines", "a</think>b", " ", "  \n", "a ", "\tb\n"}) {
      const auto got = render(begun);
      ASSERT_TRUE(got) << file << ": " << begun << ": " << got.error().message;
      // White space at either end may be the template's to drop; of reasoning, some templates show none.
      const std::string_view words =
          jinja::unicode::strip_left(jinja::unicode::strip_right(std::string_view(begun)));
      const std::string_view shown = begun == "a</think>b" ? "b" : words;
      std::string_view text = got->text;
      EXPECT_TRUE(text.ends_with(begun) || jinja::unicode::strip_right(text).ends_with(shown))
          << file << ": [" << begun << "] in " << text;
      if (begun != "a</think>b") {
        text = jinja::unicode::strip_right(text);
        text.remove_suffix(words.size());
        EXPECT_EQ(jinja::unicode::strip_right(text), opening) << file << ": [" << begun << "]";
      }
      for (const TextSpan& span : got->own) EXPECT_LE(span.end, got->text.size());
    }
  }
}

TEST(ChatTemplateGolden, LanguageFeaturesRenderAsInPython) {
  boost::json::object shared_context;
  size_t compared = 0;
  for (const auto& line : read_lines("language.jsonl")) {
    if (!line.contains("template")) {
      shared_context = line.at("context").as_object();
      continue;
    }
    const boost::json::object& context =
        line.contains("context") ? line.at("context").as_object() : shared_context;
    const std::string source = text(line.at("template"));
    std::vector<jinja::Variable> variables;
    for (const auto& [name, value] : context) variables.push_back({std::string_view(name), &value});
    const auto compiled = jinja::Compiled::compile(source);
    const auto got =
        compiled ? compiled->render(variables, kNow) : Result<MarkedText>(std::unexpected(compiled.error()));
    expect_golden(got, line, source);
    ++compared;
  }
  EXPECT_GT(compared, 800u);
}

}  // namespace
}  // namespace reprise
