#include "app/command_reference.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/serve_settings.h"

namespace reprise {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A program with every kind of command, in a folder with two files.
class CommandReferenceTest : public ::testing::Test {
 protected:
  CommandReferenceTest() : settings_("serve", serve_settings(options_)) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "a model.gguf") << "x";
    std::ofstream(folder_ / "other") << "x";
    app_.add_option("--log-level", text_, "How much to log")->type_name("LEVEL");
    settings_.add_flags(*app_.add_subcommand("serve", "Serve a model"));
    app_.add_subcommand("chat", "Chat")->add_option("--model", text_, "Name to send");
    app_.add_subcommand("inspect", "Show a file")
        ->add_option("model", text_, "The file to show")
        ->type_name("PATH");
    app_.add_subcommand("completion", "Print a script")
        ->add_option("shell", text_, "Which")
        ->type_name("bash|zsh");
    CLI::App* model = app_.add_subcommand("bench", "Measure")->add_subcommand("model", "A model's speed");
    model->add_option("--json", text_, "Print JSON")->expected(0, 1)->type_name("[FILE]");
    model->add_flag("--odd")->description("An [odd] one");
  }
  ~CommandReferenceTest() override { std::filesystem::remove_all(folder_); }

  // What bash offers after these words, of which the last is being typed.
  std::vector<std::string> complete(const std::vector<std::string>& words) {
    std::string quoted;
    for (const std::string& word : words) quoted += " '" + word + "'";
    std::ofstream(folder_ / "script")
        << shell_completion(app_, "bash").value() << "COMP_WORDS=(reprise" << quoted
        << ")\nCOMP_CWORD=" << words.size() << "\n_reprise\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const std::string command = "cd '" + folder_.string() + "' && bash --norc -u script 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0) << out;
    std::vector<std::string> lines;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    return lines;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("reprise_completion_" + std::to_string(getpid()));
  std::string text_;
  ServeOptions options_;
  CLI::App app_{"Serves models.", "reprise"};
  Settings settings_;
};

TEST_F(CommandReferenceTest, BashCompletes) {
  EXPECT_THAT(complete({"s"}), ElementsAre("serve"));
  EXPECT_THAT(complete({""}), Contains("bench"));
  EXPECT_THAT(complete({"serve", "--kv-m"}), ElementsAre("--kv-memory"));
  EXPECT_THAT(complete({"--log-level", "info", "serve", "--kv-t"}), ElementsAre("--kv-type"));
  EXPECT_THAT(complete({"serve", "--model", "chat", "--kv-m"}), ElementsAre("--kv-memory"))
      << "a value is no command";
  EXPECT_THAT(complete({"bench", "mo"}), ElementsAre("model"));
  EXPECT_THAT(complete({"bench", "model", "--js"}), ElementsAre("--json"));
  EXPECT_THAT(complete({"completion", ""}), ::testing::IsSupersetOf({"bash", "zsh"}));
}

TEST_F(CommandReferenceTest, BashOffersFilesWhereFilesGo) {
  EXPECT_THAT(complete({"serve", "--model", "a"}), ElementsAre("a model.gguf"));
  EXPECT_THAT(complete({"serve", "-m", "o"}), ElementsAre("other"));
  EXPECT_THAT(complete({"serve", "--config", "o"}), ElementsAre("other"));
  EXPECT_THAT(complete({"serve", "--model", "=", "o"}), ElementsAre("other"));
  EXPECT_THAT(complete({"serve", "--model", "="}), Contains("other"));
  EXPECT_THAT(complete({"inspect", "o"}), ElementsAre("other"));
  EXPECT_THAT(complete({"bench", "model", "--json", "o"}), ElementsAre("other"));
  EXPECT_THAT(complete({"serve", "o"}), IsEmpty());
  EXPECT_THAT(complete({"serve", "--port", "o"}), IsEmpty());
  EXPECT_THAT(complete({"chat", "--model", "o"}), IsEmpty()) << "there it is a name";
}

TEST_F(CommandReferenceTest, EveryShellKnowsEveryFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = shell_completion(app_, shell);
    ASSERT_TRUE(script);
    for (const Setting& setting : serve_settings(options_))
      EXPECT_THAT(*script, HasSubstr(setting.name)) << shell;
  }
  EXPECT_FALSE(shell_completion(app_, "tcsh"));
}

TEST_F(CommandReferenceTest, ZshAndFishKnowFilesAndPositionals) {
  const std::string zsh = shell_completion(app_, "zsh").value();
  EXPECT_THAT(zsh, HasSubstr(":PATH:_files'"));
  EXPECT_THAT(zsh, HasSubstr("'1:model:_files'"));
  EXPECT_THAT(zsh, HasSubstr("'1:shell:(bash zsh)'"));
  EXPECT_THAT(zsh, HasSubstr("'--json[Print JSON]::\\[FILE\\]:_files'"));
  EXPECT_THAT(zsh, HasSubstr("[An \\[odd\\] one]"));
  EXPECT_THAT(zsh, Not(HasSubstr("'*:file:_files'"))) << "serve takes no file";
  EXPECT_THAT(zsh,
              ::testing::EndsWith("if [ \"$funcstack[1]\" = _reprise ]; then _reprise \"$@\"; else compdef "
                                  "_reprise reprise; fi\n"));
  const std::string fish = shell_completion(app_, "fish").value();
  EXPECT_THAT(fish, HasSubstr(" -l model -s m -r -F "));
  EXPECT_THAT(fish, HasSubstr("'__fish_seen_subcommand_from inspect' -F\n"));
  EXPECT_THAT(fish, HasSubstr("'__fish_seen_subcommand_from completion' -a 'bash zsh'\n"));
}

TEST_F(CommandReferenceTest, TheManualHasEverySettingAndPositional) {
  std::string page = manual_page(app_, "1.2");
  EXPECT_THAT(page, HasSubstr(".TH REPRISE 1"));
  for (size_t at = 0; (at = page.find("\\-", at)) != page.npos;) page.replace(at, 2, "-");
  for (const Setting& setting : serve_settings(options_)) {
    EXPECT_THAT(page, HasSubstr("--" + setting.name));
    EXPECT_THAT(page, HasSubstr(setting.help));
  }
  EXPECT_THAT(page, HasSubstr(".B reprise inspect\n[FLAGS] MODEL\n"));
  EXPECT_THAT(page, HasSubstr(".B MODEL\nThe file to show\n"));
}

}  // namespace
}  // namespace reprise
