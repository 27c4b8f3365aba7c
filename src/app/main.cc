// The command line: flags become option structs, one function per command does the rest. Only this file names
// flags and reads the environment.
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/bench.h"
#include "app/chat.h"
#include "app/command_reference.h"
#include "app/inspect.h"
#include "app/log_level.h"
#include "app/serve.h"
#include "app/serve_settings.h"
#include "base/log.h"
#include "kernels/table.h"

namespace reprise {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void add_compute_flags(CLI::App* app, std::string& kernels, int& threads) {
  app->add_option(
      "--kernels", kernels,
      fmt::format("Force a kernel table: {} (default: the best for this CPU; env REPRISE_KERNELS)",
                  kernels::kTableNames));
  app->add_option("-t,--threads", threads, "Compute threads (default: all usable CPUs)")
      ->check(CLI::Range(1, 1024));
}

// `level` is what --log-level says before the command; empty: nothing.
void add_serve(CLI::App& app, const std::string& level, std::function<int()>& action) {
  static ServeOptions options;
  static Settings settings("serve", serve_settings(options));
  CLI::App* serve = app.add_subcommand("serve", "Serve a model over the OpenAI API");
  settings.add_flags(*serve);
  serve->footer(
      "Each setting is also a variable (--kv-memory: REPRISE_KV_MEMORY) and a key of the config file; a flag "
      "counts before\n"
      "a variable, and that before the file.\n"
      "\nexamples:\n"
      "  reprise serve -m SmolLM2-135M-Instruct.Q4_1.gguf\n"
      "  reprise serve -m llama.gguf --host 0.0.0.0 --port 9000 --api-key secret --kv-memory 16G\n"
      "  reprise serve -m SmolLM2-135M-Instruct.Q4_1.gguf --context 32768 --rope-scaling yarn:4\n"
      "  REPRISE_API_KEY=secret reprise serve --config reprise.toml   # model = \"llama.gguf\", port = 9000\n"
      "  reprise serve --config reprise.toml --print-config           # what is in force, and why");
  serve->callback([&action, &level] {
    action = [&level] {
      if (!level.empty()) settings.give("log-level", level);
      Result<void> resolved = settings.resolve(reprise_environment());
      if (resolved && settings.wants_print()) {
        std::fputs(settings.print().c_str(), stdout);
        return 0;
      }
      if (resolved) resolved = check_serve_options(options, settings);
      if (resolved) {
        log::init(*log_level_of(options.log_level));
        return run_serve(options);
      }
      std::fprintf(stderr, "reprise serve: %s\n", resolved.error().message.c_str());
      return 2;
    };
  });
}

void add_chat(CLI::App& app, std::function<int()>& action) {
  static ChatOptions options;
  options.api_key = environment("REPRISE_API_KEY");
  CLI::App* chat = app.add_subcommand("chat", "Talk to a running server in the terminal");
  chat->add_option("--url", options.url, "Server")->capture_default_str();
  chat->add_option("--system", options.system, "System prompt");
  chat->add_option("--temperature", options.temperature, "Sampling temperature (default: the server's)")
      ->check(CLI::Range(0.0, 2.0));
  chat->add_option("--max-tokens", options.max_tokens,
                   "Longest answer, in tokens (default: the rest of the context)");
  chat->add_option("--model", options.model, "Model name to send");
  chat->add_option("--api-key", options.api_key, "Bearer token (env REPRISE_API_KEY)");
  chat->footer(
      "examples:\n  reprise chat\n  reprise chat --url http://host:9000 --temperature 0\n"
      "  git diff | reprise chat --system 'Write a commit message for this diff.'");
  chat->callback([&action] { action = [] { return run_chat(options); }; });
}

void add_inspect(CLI::App& app, std::function<int()>& action) {
  static std::string file;
  CLI::App* inspect =
      app.add_subcommand("inspect", "Show what a model file holds and whether it can be served");
  inspect->add_option("model", file, "Model: a GGUF file, or a folder from Hugging Face")
      ->required()
      ->type_name("PATH");
  inspect->footer("example:\n  reprise inspect SmolLM2-135M-Instruct.Q4_1.gguf");
  inspect->callback([&action] { action = [] { return run_inspect(file); }; });
}

void add_bench(CLI::App& app, std::function<int()>& action) {
  static BenchOptions options;
  options.kernels = environment("REPRISE_KERNELS");
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine and our model and kernels on it");
  bench->require_subcommand(1);
  CLI::App* roof = bench->add_subcommand(
      "roof", "What this machine can do: bandwidth by level, int8 TOPS, bf16 and fp32 TFLOPS");
  CLI::App* kernels = bench->add_subcommand("kernels", "Each kernel beside the machine's limit");
  kernels->add_option("--types", options.types, "Weight types to measure, by GGUF's names: Q4_1,Q4_K")
      ->delimiter(',')
      ->type_name("LIST");
  CLI::App* model = bench->add_subcommand("model", "Prefill and decode speed of a model");
  model->add_option("-m,--model", options.model_file, "Model: a GGUF file, or a folder from Hugging Face")
      ->required()
      ->type_name("PATH");
  model->add_option("--prompt", options.prompt, "Prompt tokens to prefill; 0 = none")->capture_default_str();
  model->add_option("--gen", options.gen, "Tokens to decode; 0 = none")->capture_default_str();
  model
      ->add_option("--depth", options.depth,
                   "Context already there before either (may exceed what the model was trained for)")
      ->capture_default_str();
  model->footer(
      "example:\n  reprise bench model -m SmolLM2-135M-Instruct.Q4_1.gguf --prompt 512 --gen 128 --depth "
      "8192");
  for (CLI::App* one : {roof, kernels, model}) {
    add_compute_flags(one, options.kernels, options.threads);
    one->add_option_function<std::vector<std::string>>(
           "--json",
           [](const std::vector<std::string>& file) {
             options.json = file.empty() || file[0].empty() ? BenchOptions::kStdout : file[0];
           },
           "Print JSON instead of a table or, given a FILE, write it there besides")
        ->expected(0, 1)
        ->type_name("[FILE]");
  }
  roof->callback([&action] { action = [] { return run_bench_roof(options); }; });
  kernels->callback([&action] { action = [] { return run_bench_kernels(options); }; });
  model->callback([&action] { action = [] { return run_bench_model(options); }; });
}

void add_reference(CLI::App& app, std::function<int()>& action) {
  static std::string shell;
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes commands and flags in a shell");
  completion->add_option("shell", shell, "bash, zsh or fish")->required()->type_name("bash|zsh|fish");
  completion->footer("example:\n  source <(reprise completion bash)");
  completion->callback([&app, &action] {
    action = [&app] {
      const Result<std::string> script = shell_completion(app, shell);
      if (script) std::fputs(script->c_str(), stdout);
      if (!script) std::fprintf(stderr, "reprise completion: %s\n", script.error().message.c_str());
      return script ? 0 : 2;
    };
  });
  CLI::App* man = app.add_subcommand("man", "Print the manual page");
  man->footer("example:\n  reprise man | man -l -");
  man->callback([&app, &action] {
    action = [&app] {
      std::fputs(manual_page(app, REPRISE_VERSION).c_str(), stdout);
      return 0;
    };
  });
}

// One line: what is wrong, and what was likely meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string words = "reprise";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    words += " " + command->get_name();
  }
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  const size_t dashes = text.rfind("--");
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) || dashes == text.npos) {
    return fmt::format("{}: {} (see {} --help)", words, text, words);
  }
  std::vector<std::string> known;
  for (const CLI::App* scope : {&app, command}) {
    for (const CLI::Option* option : scope->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  const std::string given = text.substr(dashes, text.find_first_of(" =", dashes) - dashes);
  const std::string meant = nearest_name(given, known);
  return fmt::format("{}: there is no flag {}{}", words, given,
                     meant.empty() ? fmt::format("; {} --help lists them", words)
                                   : fmt::format("; did you mean {}?", meant));
}

int run(int argc, char** argv) {
  CLI::App app{"Reprise serves open-weights language models to coding agents.", "reprise"};
  app.set_version_flag("--version", "reprise " REPRISE_VERSION);
  app.require_subcommand(1);
  std::string level;
  app.add_option("--log-level", level,
                 "debug, info, warn, error or off (default: info; env REPRISE_LOG_LEVEL)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  app.fallthrough();
  std::function<int()> action;
  add_serve(app, level, action);
  add_chat(app, action);
  add_inspect(app, action);
  add_bench(app, action);
  add_reference(app, action);
  app.get_formatter()->column_width(34);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "%s\n", explain(app, error).c_str());
    return 2;
  }
  const auto variable = log_level_of(environment("REPRISE_LOG_LEVEL"));
  log::init(log_level_of(level).value_or(variable.value_or(log::Level::kInfo)));
  return action();
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) { return reprise::run(argc, argv); }
