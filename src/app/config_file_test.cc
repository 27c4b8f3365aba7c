#include "app/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "section.key=value,value@line" of each entry, or the error.
std::vector<std::string> read(std::string_view text) {
  const auto entries = parse_config(text, "f.toml");
  if (!entries) return {entries.error().message};
  std::vector<std::string> out;
  for (const ConfigEntry& entry : *entries) {
    out.push_back(
        fmt::format("{}.{}={}@{}", entry.section, entry.key, fmt::join(entry.values, "|"), entry.line));
  }
  return out;
}
std::string refusal(std::string_view text) {
  const auto entries = parse_config(text, "f.toml");
  return entries ? "" : entries.error().message;
}

TEST(ConfigFile, ReadsEveryKindOfValue) {
  EXPECT_THAT(read("a = \"x # y\" # z\n; ini\n\n  b='c:\\d \"e\"'\r\n[ serve ] # s\nc-d = 1.5\ne=true ;\n"),
              ElementsAre(".a=x # y@1", ".b=c:\\d \"e\"@4", "serve.c-d=1.5@6", "serve.e=true@7"));
  EXPECT_THAT(read("a = \"q\\\"\\\\\\t\\nz\"\nb = \"\"\nc = /home/x/m.gguf"),
              ElementsAre(".a=q\"\\\t\nz@1", ".b=@2", ".c=/home/x/m.gguf@3"));
  EXPECT_THAT(read("a = [\"x, y\", 'z',\n  w, # last\n]\nb = []\nc = [1]"),
              ElementsAre(".a=x, y|z|w@1", ".b=@4", ".c=1@5"));
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "a = 1"),
              ElementsAre(".a=1@1"));
  EXPECT_THAT(read("a = 1\n[serve]\na = 2"), ElementsAre(".a=1@1", "serve.a=2@3"));
  EXPECT_THAT(read(""), ElementsAre());
}

TEST(ConfigFile, RefusesTheRestWithItsLine) {
  EXPECT_EQ(refusal("\nmodel = my model.gguf"),
            "f.toml:2: the value of 'model' is followed by something else: put quotes around all of it");
  EXPECT_EQ(refusal("a = 1\nb = 2\na = 3"), "f.toml:3: 'a' stands here again: it was set in line 1");
  EXPECT_EQ(refusal("a = \"x"), "f.toml:1: the string of 'a' does not end");
  EXPECT_EQ(refusal("a = 'x\n'"), "f.toml:1: the string of 'a' does not end");
  EXPECT_EQ(refusal("a ="), "f.toml:1: 'a' has no value");
  EXPECT_EQ(refusal("a = # b"), "f.toml:1: 'a' has no value");
  EXPECT_EQ(refusal("\na = [1\n, 2"), "f.toml:2: the array of 'a' does not end with ']'");
  EXPECT_EQ(refusal("a = [1\n2]"), "f.toml:2: a comma is missing in the array of 'a'");
  EXPECT_THAT(refusal("a = [,]"), HasSubstr("f.toml:1: 'a' has no value"));
  EXPECT_THAT(refusal("a = \"x\" \"y\""), HasSubstr("put quotes around all of it"));
  EXPECT_THAT(refusal("a = x\"y\""), HasSubstr("put quotes around all of it"));
  EXPECT_THAT(refusal("a = \"\\q\""), HasSubstr("'\\q' is no escape"));
  EXPECT_THAT(refusal("a = \"\"\"x\"\"\""), HasSubstr("over several lines"));
  EXPECT_THAT(refusal("a = { b = 1 }"), HasSubstr("f.toml:1"));
  EXPECT_THAT(refusal("just words"), HasSubstr("key = value"));
  EXPECT_THAT(refusal("a.b = 1"), HasSubstr("key = value"));
  EXPECT_THAT(refusal("[serve"), HasSubstr("[serve]"));
  EXPECT_THAT(refusal("[[serve]]"), HasSubstr("[serve]"));
}

TEST(ConfigFile, ReadsBackWhatItWrites) {
  for (const std::string text : {"", "a b", "it's", "say \"x\"", "c:\\d", "'\"\\\n\r", "# ; [x]"}) {
    const auto entries = parse_config("a = " + config_string(text) + " # c", "f");
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_THAT(entries->at(0).values, ElementsAre(text));
  }
}

}  // namespace
}  // namespace reprise
