// Every way of writing calls, whole and cut everywhere, with markers that are tokens and markers that are
// text.
#include "text/tool_calls/families.h"

#include <random>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/tool_calls/answers_for_test.h"

namespace reprise::calls {
namespace {
namespace json = boost::json;

const Tools& tools() {
  static const Tools tools(json::parse(R"([
    {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
      "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "write_file", "parameters": {"type": "object",
      "properties": {"path": {"type": "string"}, "content": {"type": "string"},
                     "mode": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                     "lines": {"type": "array"}, "options": {"type": "object"}, "force": {"type": "boolean"}},
      "required": ["path", "content"]}}},
    {"type": "function", "function": {"name": "now"}}
  ])")
                               .as_array());
  return tools;
}

struct Case {
  std::string_view family;
  std::string_view name;
  std::string_view text;
  std::string_view expected;
  bool reasoning = false;
  bool offered = true;
  bool markers_as_text = true;  // as well
};

void check(const Case& test) {
  SCOPED_TRACE(std::string(test.family) + ", " + std::string(test.name));
  static const Tools none;
  const Tools& offered = test.offered ? tools() : none;
  const Family* family = family_named(test.family);
  ASSERT_NE(family, nullptr);
  for (const bool as_tokens : {true, false}) {
    if (!as_tokens && !test.markers_as_text) continue;
    SCOPED_TRACE(as_tokens ? "markers are tokens" : "markers are text");
    std::vector<std::string> markers;
    for (std::string_view marker : family->markers)
      markers.push_back(as_tokens ? marked(*family, marker) : std::string(marker));
    const std::string text = as_tokens ? marked(*family, test.text) : std::string(test.text);
    const auto parse = [&] { return Answer(*family, markers, test.reasoning, offered); };
    Answer whole = parse();
    whole.push(text);
    ASSERT_EQ(whole.finish(), test.expected);
    expect_same_however_cut(text, test.expected, 50, parse);
    // However it breaks off, what came is well-formed.
    size_t at = 0;
    for (const std::string& piece : characters(text)) {
      Answer broken = parse();
      broken.push(std::string_view(text).substr(0, at));
      broken.finish();
      if (::testing::Test::HasFatalFailure()) FAIL() << "broken off before byte " << at;
      at += piece.size();
    }
  }
}

class FamilyCases : public ::testing::TestWithParam<Case> {};
TEST_P(FamilyCases, ParseHoweverTheyAreCut) { check(GetParam()); }

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::string(info.param.family) + "_" + std::string(info.param.name);
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

const Case kHermes[] = {
    {"hermes", "text", "Just text.\n", "C[Just text.\n]"},
    {"hermes", "one call",
     "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bern\"}}\n</tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"hermes", "reasoning, text, two calls",
     "<think>\nHm.\n</think>\n\nI look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
     "\"Bern\"}}\n"
     "</tool_call>\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
     R"(R[Hm.]C[I look.]get_weather{"city":"Bern"}now{})"},
    {"hermes", "arguments first",
     "<tool_call>{\"arguments\": {\"city\": \"Bern\"}, \"name\": \"get_weather\"}</tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"hermes", "arguments twice",
     "<tool_call>{\"arguments\": {\"city\": \"Bern\"}, \"arguments\": {}, \"name\": \"get_weather\", "
     "\"arguments\": "
     "{}}</tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"hermes", "arguments again",
     "<tool_call>{\"name\": \"now\", \"arguments\": {}, \"arguments\": {\"a\": 1}}</tool_call>Done.",
     "now{}C[Done.]"},
    {"hermes", "braces in a string",
     "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"mkdir {a,b}\", \"content\": "
     "\"}}\"}}\n</tool_call>",
     R"(write_file{"path":"mkdir {a,b}","content":"}}"})"},
    {"hermes", "an array of calls",
     "<tool_call>[{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"now\", \"arguments\": "
     "{}}]</tool_call>",
     "now{}now{}"},
    {"hermes", "arguments in a string",
     R"(<tool_call>{"name": "get_weather", "arguments": "{\"city\": \"Z\\u00fcrich\", \"days\": 3}"}</tool_call>)",
     R"(get_weather{"city":"Z\u00fcrich","days":3})"},
    {"hermes", "no closing tag", "<tool_call>{\"name\": \"now\", \"arguments\": {}}", "now{}"},
    {"hermes", "a brace too many", "<tool_call>{\"name\": \"now\", \"arguments\": {}}}</tool_call>\nDone.",
     "now{}C[Done.]"},
    {"hermes", "a bad call hides none",
     "<tool_call>{oops</tool_call><tool_call>{\"name\": \"now\"}</tool_call>",
     "C[<tool_call>{oops</tool_call>]now{}"},
    {"hermes", "not JSON", "<tool_call>now()</tool_call>", "C[<tool_call>now()</tool_call>]"},
    {"hermes", "a draft in reasoning",
     "<think>I could <tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call> but no.</think>No.",
     R"(R[I could <tool_call>{"name": "now", "arguments": {}}</tool_call> but no.]C[No.])"},
    {"hermes", "a call that ends reasoning",
     "<think>I look.\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>", "R[I look.]now{}"},
    {"hermes", "a call in reasoning and nothing after",
     "Look.\n<tool_call>{\"name\": \"now\"}</tool_call></think>",
     R"(R[Look.
<tool_call>{"name": "now"}</tool_call>]now{})",
     true},
    {"hermes", "reasoning begun by the prompt", "Hm.\n</think>\n\nYes.", "R[Hm.]C[Yes.]", true},
    {"hermes", "nothing offered", "<think>a</think><tool_call>{\"name\": \"now\"}</tool_call>",
     R"(R[a]C[<tool_call>{"name": "now"}</tool_call>])", false, false},
};
INSTANTIATE_TEST_SUITE_P(Hermes, FamilyCases, ::testing::ValuesIn(kHermes), test_name);

const Case kQwenXml[] = {
    {"qwen_xml", "one call",
     "I "
     "look.\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nBern\n</"
     "parameter>\n<parameter=days>\n3\n"
     "</parameter>\n</function>\n</tool_call>",
     R"(C[I look.]get_weather{"city":"Bern","days":3})"},
    {"qwen_xml", "lines, quotes and tags in a value",
     "<tool_call>\n<function=write_file>\n<parameter=path>\na.xml\n</parameter>\n<parameter=content>\n\n<a "
     "b=\"c\">\\\n"
     "</parameter> text </function> text <parameter=other>\n\n\n</parameter>\n</function>\n</tool_call>",
     R"(write_file{"path":"a.xml","content":"\n<a b=\"c\">\\\n</parameter> text </function> text <parameter=other>\n\n"})"},
    {"qwen_xml", "types",
     "<tool_call>\n<function=write_file>\n<parameter=path>\n5\n</parameter>\n<parameter=mode>\nnull\n</"
     "parameter>\n"
     "<parameter=lines>\n[1, \"a\"]\n</parameter>\n<parameter=options>\n{\"a\": "
     "{}}\n</parameter>\n<parameter=force>\nTrue\n"
     "</parameter>\n<parameter=unknown>\n7\n</parameter>\n</function>\n</tool_call>",
     R"(write_file{"path":"5","mode":null,"lines":[1, "a"],"options":{"a": {}},"force":true,"unknown":"7"})"},
    {"qwen_xml", "no argument", "<tool_call>\n<function=now>\n</function>\n</tool_call>", "now{}"},
    {"qwen_xml", "no tool_call around it",
     "<function=get_weather>\n<parameter=city>\nBern\n</parameter>\n</function>",
     R"(get_weather{"city":"Bern"})"},
    {"qwen_xml", "no closing tags",
     "<tool_call>\n<function=get_weather>\n<parameter=city>\nBern\n<parameter=days>\n3\n</function>",
     R"(get_weather{"city":"Bern","days":3})"},
    {"qwen_xml", "two calls",
     "<tool_call>\n<function=now>\n</function>\n</"
     "tool_call>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nBern\n"
     "</parameter>\n</function>\n</tool_call>",
     R"(now{}get_weather{"city":"Bern"})"},
    {"qwen_xml", "a parameter without its bracket",
     "<tool_call>\n<function=get_weather>\n<parameter=city\nBern\n</parameter>\n</function>\n</tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"qwen_xml", "a parameter without a name",
     "<tool_call>\n<function=get_weather>\n<parameter=\nx\n</parameter>\n<parameter=city>\nBern\n</"
     "parameter>\n</function>\n"
     "</tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"qwen_xml", "a call ends reasoning", "Hm.\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
     "R[Hm.]now{}", true},
    {"qwen_xml", "a brace in a string",
     "<tool_call>\n<function=write_file>\n<parameter=path>\n}\n</parameter>\n<parameter=content>\n{\n</"
     "parameter>\n</function>\n"
     "</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
     R"(write_file{"path":"}","content":"{"}now{})"},
};
INSTANTIATE_TEST_SUITE_P(QwenXml, FamilyCases, ::testing::ValuesIn(kQwenXml), test_name);

const Case kOtherTags[] = {
    {"seed_oss", "one call",
     "<seed:think>Hm.</seed:think>\n<seed:tool_call>\n<function=get_weather>\n<parameter=city>Bern\n</"
     "parameter>\n"
     "<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
     R"(R[Hm.]get_weather{"city":"Bern\n","days":3})"},
    {"minimax_m2", "two invokes in one section",
     "Hm.\n</think>\n\nI look.\n<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter "
     "name=\"city\">Bern</parameter>\n"
     "<parameter name=\"days\">3</parameter>\n</invoke>\n<invoke "
     "name=\"now\">\n</invoke>\n</minimax:tool_call>",
     R"(R[Hm.]C[I look.]get_weather{"city":"Bern","days":3}now{})", true},
    {"minimax_m2", "null and true",
     "<minimax:tool_call>\n<invoke name=\"write_file\">\n<parameter name=\"mode\">null</parameter>\n"
     "<parameter name=\"force\">true</parameter>\n</invoke>\n</minimax:tool_call>",
     R"(write_file{"mode":null,"force":true})"},
    {"minimax_m2", "a bad invoke, then a good section",
     "<minimax:tool_call>\noops\n</minimax:tool_call>\n<minimax:tool_call>\n<invoke "
     "name=\"now\">\n</invoke>\n"
     "</minimax:tool_call>",
     "C[<minimax:tool_call>\noops\n</minimax:tool_call>]now{}"},
    {"deepseek_dsml", "typed values",
     "I look.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter "
     "name=\"city\" "
     "string=\"true\">Bern</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" "
     "string=\"false\">3</｜DSML｜parameter>\n"
     "</｜DSML｜invoke>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
     R"(C[I look.]get_weather{"city":"Bern","days":3}now{})"},
    {"deepseek_dsml", "V4's section",
     "Hm.</think><｜DSML｜tool_calls>\n<｜DSML｜invoke "
     "name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
     "R[Hm.]now{}", true},
};
INSTANTIATE_TEST_SUITE_P(OtherTags, FamilyCases, ::testing::ValuesIn(kOtherTags), test_name);

const Case kGlm[] = {
    {"glm", "4.6",
     "\n<think>Hm.</think>\nI "
     "look.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n"
     "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
     R"(R[Hm.]C[I look.]get_weather{"city":"Bern","days":3})"},
    {"glm", "4.7, two calls",
     "</think><tool_call>get_weather<arg_key>city</arg_key><arg_value>Bern</arg_value></"
     "tool_call><tool_call>now</tool_call>",
     R"(get_weather{"city":"Bern"}now{})", true},
    {"glm", "a key without a value",
     "<tool_call>get_weather<arg_key>days</arg_key><arg_key>city</arg_key><arg_value>Bern</arg_value></"
     "tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"glm", "a value without its opening tag",
     "<tool_call>get_weather<arg_key>city</arg_key>Bern</arg_value></tool_call>",
     R"(get_weather{"city":"Bern"})"},
    {"glm", "objects and arrays are JSON",
     "<tool_call>write_file<arg_key>lines</arg_key><arg_value>[1, {\"a\": "
     "2}]</arg_value><arg_key>options</arg_key>"
     "<arg_value>{\"b\": 3}</arg_value></tool_call>",
     R"(write_file{"lines":[1, {"a": 2}],"options":{"b": 3}})"},
    {"glm", "a call in reasoning", "Hm. <tool_call>now</tool_call>", "R[Hm.]now{}", true},
};
INSTANTIATE_TEST_SUITE_P(Glm, FamilyCases, ::testing::ValuesIn(kGlm), test_name);

const Case kKimi[] = {
    {"kimi_k2", "two calls",
     "I "
     "look.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
     "{\"city\": "
     "\"Bern\"}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_"
     "end|>"
     "<|tool_calls_section_end|>",
     R"(C[I look.]get_weather#functions.get_weather:0{"city":"Bern"}now#functions.now:1{})"},
    {"kimi_k2", "a section ends reasoning",
     "Hm.<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.now:7 \n<|tool_call_argument_begin|> {} "
     "<|tool_call_end|>\n<|tool_calls_section_end|>",
     "R[Hm.]now#functions.now:7{}", true},
    {"kimi_k2", "odd ids",
     "<|tool_calls_section_begin|><|tool_call_begin|>now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|"
     "tool_call_begin|>"
     "functionsnow3<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_begin|>call_2<|tool_call_"
     "argument_begin|>"
     "{\"city\": "
     "\"Bern\"}<|tool_call_end|><|tool_call_begin|>4<|tool_call_argument_begin|>{}<|tool_call_end|>"
     "<|tool_calls_section_end|>",
     R"(now#now:0{}now#functionsnow3{}get_weather#call_2{"city":"Bern"}now#4{})"},
    {"kimi_k2", "no section",
     "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
     "now#functions.now:0{}"},
    {"kimi_k2", "text between calls",
     "<|tool_calls_section_begin|>first<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|"
     "tool_call_end|>"
     "<|tool_calls_section_end|>",
     "C[first]now#functions.now:0{}"},
    {"kimi_k2", "a call that does not end before the next",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"
     "\"city\": \"Be"
     "<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_"
     "end|>",
     R"(get_weather#functions.get_weather:0{"city":"Be"}now#functions.now:1{})", false, true, false},
};
INSTANTIATE_TEST_SUITE_P(Kimi, FamilyCases, ::testing::ValuesIn(kKimi), test_name);

const Case kDeepseek[] = {
    {"deepseek", "V3.1",
     "I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": "
     "\"Bern\"}<｜tool▁call▁end｜>"
     "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     R"(C[I look.]get_weather{"city":"Bern"}now{})"},
    {"deepseek", "V3",
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": "
     "\"Bern\"}\n```"
     "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<"
     "｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     R"(get_weather{"city":"Bern"}now{})"},
    {"deepseek", "a call in reasoning",
     "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>", "R[Hm.]now{}",
     true},
};
INSTANTIATE_TEST_SUITE_P(Deepseek, FamilyCases, ::testing::ValuesIn(kDeepseek), test_name);

const Case kHarmony[] = {
    {"harmony", "analysis, preamble, call",
     "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I "
     "look.<|end|><|start|>assistant"
     "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\":\"Bern\"}<|call|>",
     R"(R[Hm.]C[I look.]get_weather{"city":"Bern"})"},
    {"harmony", "final",
     "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
     "R[Hm.]C[Yes.]"},
    {"harmony", "recipient in the role", " to=functions.now<|channel|>commentary json<|message|>{}<|call|>",
     "now{}"},
    {"harmony", "odd heads",
     "––commentary<|channel|>commentary to=functions.web-browsing<|channel|>commentary <|message|>{}<|call|>",
     "web-browsing{}"},
    {"harmony", "text where a head is expected", "Hello.", "C[Hello.]"},
    {"harmony", "free text behind a channel", "<|channel|>final Hello.<|end|>", "C[Hello.]"},
};
INSTANTIATE_TEST_SUITE_P(Harmony, FamilyCases, ::testing::ValuesIn(kHarmony), test_name);

const Case kLlama[] = {
    {"llama3", "one call", "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Bern\"}}",
     R"(get_weather{"city":"Bern"})"},
    {"llama3", "tag and alias", "<|python_tag|>{\"name\": \"now\", \"arguments\": {}}", "now{}"},
    {"llama3", "several",
     "{\"name\": \"now\", \"parameters\": {}} ;  {\"name\": \"now\", \"parameters\": {}};\n{\"name\": "
     "\"now\"}",
     "now{}now{}now{}"},
    {"llama3", "prose behind", "{\"name\": \"now\", \"parameters\": {}}\nThat was it.",
     "now{}C[That was it.]"},
    {"llama3", "JSON that is no call", "{\"name\": \"Bern\", \"size\": 3}",
     R"(C[{"name": "Bern", "size": 3}])"},
    {"llama3", "a brace in text", "for {\"name\": \"now\"}", R"(C[for {"name": "now"}])"},
};
INSTANTIATE_TEST_SUITE_P(Llama, FamilyCases, ::testing::ValuesIn(kLlama), test_name);

const Case kMistralAndGemma[] = {
    {"mistral", "names",
     "I look.[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Bern\"}[TOOL_CALLS]now[CALL_ID]abc[ARGS]{}",
     R"(C[I look.]get_weather{"city":"Bern"}now#abc{})"},
    {"mistral", "an array",
     "[TOOL_CALLS] [{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bern\"}}, {\"name\": \"now\", "
     "\"arguments\": {}}]",
     R"(get_weather{"city":"Bern"}now{})"},
    {"mistral", "reasoning", "[THINK]Hm.[/THINK]Yes.", "R[Hm.]C[Yes.]"},
    {"gemma", "one call",
     "<|tool_call>call:write_file{content:<|\"|>a "
     "\"b\"\\\n<|\"|>,force:true,lines:[<|\"|>x<|\"|>,2],path:<|\"|>p<|\"|>}"
     "<tool_call|>",
     R"(write_file{"content":"a \"b\"\\\n","force":true,"lines":["x",2],"path":"p"})"},
    {"gemma", "reasoning", "<|channel>thought\nHm.\n<channel|>Yes.", "R[Hm.]C[Yes.]"},
};
INSTANTIATE_TEST_SUITE_P(MistralAndGemma, FamilyCases, ::testing::ValuesIn(kMistralAndGemma), test_name);

// A token of the markup in a name is its text.
TEST(Families, NamesHoldNoMarks) {
  for (std::string_view name : {"mistral", "kimi_k2", "glm", "gemma", "deepseek", "qwen_xml"}) {
    const Family* family = family_named(name);
    std::vector<std::string> markers;
    std::string text;
    for (std::string_view marker : family->markers) {
      markers.push_back(kMark + std::string(marker));
      text += markers.back() + "a" + kMark + "<other>b";
    }
    for (size_t begin = 0; begin < text.size(); ++begin) {
      Answer answer(*family, markers, false, tools());
      answer.push(std::string_view(text).substr(begin));
      answer.finish();  // checks
    }
  }
}

TEST(Families, AreFoundByTheirTemplates) {
  EXPECT_EQ(family_of("no calls here"), nullptr);
  EXPECT_EQ(family_of("<tool_call>\n{\"name\""), &hermes());
  EXPECT_EQ(family_of("<tool_call>\n<function="), &qwen_xml());
  EXPECT_EQ(family_of("<tool_call>{{ name }}<arg_key>"), &glm());
  for (const Family* family : families()) EXPECT_EQ(family_named(family->name), family);
}

}  // namespace
}  // namespace reprise::calls
