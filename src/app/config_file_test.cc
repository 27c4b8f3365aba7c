#include "app/config_file.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace reprise {
namespace {

using ::testing::HasSubstr;

class ConfigFileTest : public ::testing::Test {
 protected:
  ConfigFileTest() {
    app_.require_subcommand(1);
    CLI::App* serve = app_.add_subcommand("serve");
    serve
        ->add_option_function<std::string>(
            "--config", [serve](const std::string& path) { read_config_file(*serve, path); })
        ->configurable(false);
    serve->add_option("-m,--model", model_)->required();
    serve->add_option("-p,--port", port_)->check(CLI::Range(1, 65535));
    serve->add_flag("--strict-model", strict_);
  }
  ~ConfigFileTest() override { std::remove(path_.c_str()); }

  // What the parser says; empty when it is content.
  std::string parse(const std::string& file, std::vector<std::string> arguments = {}) {
    std::ofstream(path_) << file;
    arguments.insert(arguments.begin(), {"serve", "--config", path_});
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }

  const std::string path_ = ::testing::TempDir() + "/reprise_config_" + std::to_string(getpid()) + ".toml";
  CLI::App app_;
  std::string model_;
  int port_ = 8000;
  bool strict_ = false;
};

TEST_F(ConfigFileTest, SetsWhatTheCommandLineLeavesOpen) {
  EXPECT_EQ(parse("# a comment\nmodel = \"a b.gguf\"\nport = 9000\nstrict-model = true\n", {"--port", "7"}),
            "");
  EXPECT_EQ(model_, "a b.gguf") << "a required flag may come from the file";
  EXPECT_EQ(port_, 7) << "the command line comes first";
  EXPECT_TRUE(strict_);
}

TEST_F(ConfigFileTest, TakesASectionOfTheCommandsName) {
  EXPECT_EQ(parse("[serve]\nmodel = m\nport = 9000\nstrict-model = false\n"), "");
  EXPECT_EQ(model_, "m");
  EXPECT_EQ(port_, 9000);
  EXPECT_FALSE(strict_);
}

TEST_F(ConfigFileTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(parse("model = m\nprot = 9000\n"), HasSubstr("'prot' is no setting of reprise serve"));
  EXPECT_THAT(parse("model = m\n[chat]\nport = 1\n"), HasSubstr("'chat.port'"));
  EXPECT_THAT(parse("model = m\nconfig = other.toml\n"), HasSubstr("'config'"));
  EXPECT_THAT(parse("model = m\nport = many\n"), HasSubstr("port"));
  EXPECT_THAT(parse("model = m\nport = 70000\n"), HasSubstr("70000"));
  EXPECT_THAT(parse("port = 1\n"), HasSubstr("--model is required"));
}

TEST_F(ConfigFileTest, SaysThatAFileIsMissing) {
  std::vector<std::string> arguments{"/nonexistent.toml", "--config", "serve"};
  try {
    app_.parse(arguments);
    FAIL();
  } catch (const CLI::ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent.toml"));
  }
}

}  // namespace
}  // namespace reprise
