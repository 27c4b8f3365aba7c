#include "app/settings.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/serve_settings.h"

namespace reprise {
namespace {

using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  SettingsTest() { start(); }
  ~SettingsTest() override { std::remove(path_.c_str()); }

  // A program with nothing set.
  void start() {
    app_ = std::make_unique<CLI::App>("Serves models.", "reprise");
    options_ = ServeOptions();
    settings_ = std::make_unique<Settings>("serve", serve_settings(options_));
    settings_->add_flags(*app_->add_subcommand("serve", "Serve a model"));
  }
  // What is wrong with these, in one line; empty when all is well.
  std::string run(std::vector<std::string> arguments, const Environment& environment = {}) {
    start();
    std::ranges::reverse(arguments);  // as CLI11 takes them
    arguments.push_back("serve");
    app_->parse(arguments);
    auto result = settings_->resolve(environment);
    if (result) result = check_serve_options(options_, *settings_);
    return result ? "" : result.error().message;
  }
  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

  const std::string path_ = ::testing::TempDir() + "/reprise_settings_" + std::to_string(getpid()) + ".toml";
  ServeOptions options_;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Settings> settings_;
};

TEST_F(SettingsTest, AFlagCountsBeforeAVariableAndThatBeforeTheFile) {
  const std::string config =
      file("# a comment\nmodel = \"a b.gguf\"\nport = 1\nhost = \"h1\"\nkv-memory = \"16G\"\n");
  EXPECT_EQ(run({"--config", config, "--port", "3"}, {{"REPRISE_PORT", "2"}, {"REPRISE_HOST", "h2"}}), "");
  EXPECT_EQ(options_.model_file, "a b.gguf");
  EXPECT_EQ(options_.http.port, 3);
  EXPECT_EQ(options_.http.address, "h2");
  EXPECT_EQ(options_.engine.kv_memory, size_t{16} << 30);
  const std::string printed = settings_->print();
  EXPECT_THAT(printed, ::testing::ContainsRegex("port = 3 +# --port\n"));
  EXPECT_THAT(printed, ::testing::ContainsRegex("host = \"h2\" +# REPRISE_HOST\n"));
  EXPECT_THAT(printed, HasSubstr("# " + config + ":5\n"));
  EXPECT_THAT(printed, ::testing::ContainsRegex("chunk = 512 +# default\n"));
}

TEST_F(SettingsTest, EverySettingHasEverySource) {
  ServeOptions other;
  for (const Setting& setting : serve_settings(other)) {
    ServeOptions options;
    Settings settings("serve", serve_settings(options));
    CLI::App app;
    settings.add_flags(app);
    const std::string value = setting.kind == SettingKind::kSwitch                        ? "true"
                              : setting.kind == SettingKind::kNumber                      ? "3"
                              : setting.name == "max-body" || setting.name == "kv-memory" ? "3M"
                              : setting.name == "kv-type"                                 ? "int8"
                              : setting.name == "log-level"                               ? "debug"
                                                                                          : "text";
    std::string variable = "REPRISE_" + setting.name;
    for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    const auto by_variable = settings.resolve({{variable, value}});
    EXPECT_TRUE(by_variable) << by_variable.error().message;
    EXPECT_TRUE(settings.is_given(setting.name)) << setting.name;

    Settings by_file("serve", serve_settings(options));
    CLI::App file_app;
    by_file.add_flags(file_app);
    file_app.parse("--config " + file("[serve]\n" + setting.name + " = \"" + value + "\"\n"), false);
    EXPECT_TRUE(by_file.resolve({})) << setting.name;
    EXPECT_TRUE(by_file.is_given(setting.name)) << setting.name;
    EXPECT_FALSE(setting.help.empty() || setting.group.empty());
  }
}

TEST_F(SettingsTest, WhatIsPrintedIsAConfigFileThatSaysTheSame) {
  EXPECT_EQ(run({"--model", "a b.gguf", "--cors-origin", "https://a", "--cors-origin", "https://b:8",
                 "--strict-model", "--max-body", "1536K", "--drain-timeout", "2.5"}),
            "");
  const std::string printed = settings_->print();
  ServeOptions options;
  Settings again("serve", serve_settings(options));
  CLI::App app;
  again.add_flags(app);
  app.parse("--config " + file(printed), false);
  const auto resolved = again.resolve({});
  ASSERT_TRUE(resolved) << resolved.error().message << "\n" << printed;
  EXPECT_EQ(options.model_file, options_.model_file);
  EXPECT_EQ(options.cors_origins, options_.cors_origins);
  EXPECT_EQ(options.strict_model, true);
  EXPECT_EQ(options.http.max_body, size_t{1536} << 10);
  EXPECT_EQ(options.drain_timeout, 2500 * kMillisecond);
}

TEST_F(SettingsTest, SecretsAreNotPrinted) {
  EXPECT_EQ(run({"--model", "m"}, {{"REPRISE_API_KEY", "sk-secret"}}), "");
  EXPECT_EQ(options_.api_key, "sk-secret");
  EXPECT_THAT(settings_->print(), ::testing::Not(HasSubstr("sk-secret")));
  EXPECT_THAT(settings_->print(), ::testing::ContainsRegex("\n# api-key = \"...\" +# REPRISE_API_KEY\n"));
}

TEST_F(SettingsTest, AFlagBeforeTheCommandCountsBeforeVariablesToo) {
  EXPECT_EQ(run({"--model", "m"}, {{"REPRISE_LOG_LEVEL", "warn"}}), "");
  EXPECT_EQ(options_.log_level, "warn");
  settings_->give("log-level", "debug");
  EXPECT_TRUE(settings_->resolve({{"REPRISE_LOG_LEVEL", "warn"}}));
  EXPECT_EQ(options_.log_level, "debug");
  EXPECT_THAT(settings_->print(), ::testing::ContainsRegex("log-level = \"debug\" +# --log-level\n"));
}

TEST_F(SettingsTest, RefusalsNameTheSourceAndTheFix) {
  EXPECT_THAT(run({}), HasSubstr("give --model FILE, REPRISE_MODEL, or model ="));
  EXPECT_EQ(run({"--port", "70000"}), "--port: 'port' must be an integer from 0 to 65535 (not '70000')");
  EXPECT_THAT(run({}, {{"REPRISE_WORKERS", "many"}}),
              HasSubstr("REPRISE_WORKERS: 'workers' must be an integer from 1 to 256"));
  EXPECT_THAT(run({"--kv-type", "fp8"}), HasSubstr("must be bf16 or int8"));
  EXPECT_THAT(run({"--kv-memory", "lots"}), HasSubstr("must be a size like 512M or 16G"));
  EXPECT_THAT(run({"--model", "m", "--max-running", "9", "--max-requests", "8"}),
              HasSubstr("lower it, or raise max-requests"));
  EXPECT_THAT(run({"--model", "m", "--max-running", "2000"}), HasSubstr("more than max-requests (1024)"));
  EXPECT_EQ(run({"--model", "m", "--max-requests", "8"}), "") << "fewer than may run by default";
  EXPECT_THAT(run({"--model", "m", "--api-key", ""}), HasSubstr("leave it out to serve without a key"));
  EXPECT_THAT(run({"--model", "m"}, {{"REPRISE_API_KEY", ""}}),
              HasSubstr("REPRISE_API_KEY: 'api-key' must not"));
  EXPECT_THAT(run({"--log-level", "loud"}), HasSubstr("must be debug, info, warn, error or off"));
  EXPECT_THAT(run({"--model", "m", "--cors-origin", "https://a/b"}),
              HasSubstr("is no origin: write it as https://host"));
  EXPECT_THAT(run({}, {{"REPRISE_PROT", "1"}}), HasSubstr("did you mean REPRISE_PORT?"));
  EXPECT_EQ(run({"--model", "m"}, {{"REPRISE_SERVICE_HOST", "10.0.0.1"}}), "") << "of a container platform";
  EXPECT_THAT(run({}, {{"REPRISE_PORT", "tcp://10.0.0.1:80"}}), HasSubstr("enableServiceLinks"));
  EXPECT_THAT(run({"--config", file("prot = 9\n")}),
              HasSubstr("'prot' is no setting of reprise serve; did you mean 'port'?"));
  EXPECT_THAT(run({"--config", file("[chat]\nport = 1\n")}), HasSubstr("'chat.port'"));
  EXPECT_THAT(run({"--config", file("config = \"other.toml\"\n")}), HasSubstr("'config'"));
  EXPECT_THAT(run({"--config", file("model = a b.gguf\n")}), HasSubstr(".toml:1: the value of 'model'"));
  EXPECT_THAT(run({"--config", file("port = 1\n[serve]\nport = 2\n")}),
              HasSubstr(".toml:3: 'port' stands here again: it was set in " + path_ + ":1"));
  EXPECT_THAT(run({"--config", file("port = [1, 2]\n")}), HasSubstr("takes one value"));
  EXPECT_THAT(run({"--config", file("\nport = many\n")}), HasSubstr(".toml:2: 'port' must be an integer"));
  EXPECT_THAT(run({"--config", "/tmp"}), HasSubstr("/tmp cannot be read"));
  EXPECT_THAT(run({"--config", "/nonexistent.toml"}), HasSubstr("/nonexistent.toml cannot be read"));
}

TEST(NearestName, FindsSlipsAndNothingElse) {
  const std::vector<std::string> known{"--port", "--model", "--kv-memory"};
  EXPECT_EQ(nearest_name("--prot", known), "--port");
  EXPECT_EQ(nearest_name("--kv-memroy", known), "--kv-memory");
  EXPECT_EQ(nearest_name("--temperature", known), "");
}

}  // namespace
}  // namespace reprise
