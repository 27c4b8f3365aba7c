// The command line: flags become option structs, one function per command does the rest. Only this file names
// flags and reads the environment.
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <CLI/CLI.hpp>

#include "app/bench.h"
#include "app/chat.h"
#include "app/config_file.h"
#include "app/inspect.h"
#include "app/serve.h"
#include "base/log.h"
#include "base/size.h"

namespace reprise {
namespace {

// CLI11 turns a thrown ValidationError into its one-line usage message; nothing past the parser sees it.
CLI::Option* add_size(CLI::App* app, const std::string& flag, size_t& value, const std::string& help) {
  return app
      ->add_option_function<std::string>(
          flag,
          [&value, flag](const std::string& text) {
            const auto size = parse_size(text);
            if (!size) throw CLI::ValidationError(flag, size.error().message);
            value = *size;
          },
          help)
      ->type_name("SIZE");
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void add_load_flags(CLI::App* app, LoadOptions& load) {
  app->add_option("--context", load.context,
                  "Tokens a sequence may hold; more than the model was trained for needs --rope-scaling")
      ->type_name("N");
  app->add_option("--rope-scaling", load.rope_scaling,
                  "Replace the file's RoPE scaling: none, linear:F or yarn:F")
      ->type_name("KIND");
}

void add_compute_flags(CLI::App* app, std::string& kernels, int& threads) {
  app->add_option(
      "--kernels", kernels,
      "Force a kernel table: ref, avx2, avx512 (default: the best for this CPU; env REPRISE_KERNELS)");
  app->add_option("-t,--threads", threads, "Compute threads (default: all usable CPUs)")
      ->check(CLI::Range(1, 1024));
}

void add_serve(CLI::App& app, std::function<int()>& action) {
  static ServeOptions options;
  static double drain_seconds = to_seconds(options.drain_timeout);
  options.http.port = 8000;
  options.http.max_body = size_t{64} << 20;
  options.kernels = environment("REPRISE_KERNELS");
  options.api_key = environment("REPRISE_API_KEY");
  CLI::App* serve = app.add_subcommand("serve", "Serve a model over the OpenAI API");
  serve
      ->add_option_function<std::string>(
          "--config", [serve](const std::string& file) { read_config_file(*serve, file); },
          "Read flags from a TOML or INI file; those given here come first")
      ->type_name("FILE")
      ->configurable(false);  // first of all: it sets the others
  serve->add_option("-m,--model", options.model_file, "Model file (GGUF)")->required()->type_name("FILE");
  serve->add_option("--model-name", options.model_name,
                    "Model id shown to clients (default: the file's name without .gguf)");
  serve->add_flag("--strict-model", options.strict_model, "Answer 404 to requests that name another model");
  serve->add_option("--host", options.http.address, "Address to listen on")->capture_default_str();
  serve->add_option("-p,--port", options.http.port, "Port to listen on")->capture_default_str();
  serve->add_option("--api-key", options.api_key, "Require this bearer token (env REPRISE_API_KEY)");
  add_load_flags(serve, options.load);
  add_compute_flags(serve, options.kernels, options.threads);
  add_size(serve, "--kv-memory", options.engine.kv_memory,
           "Memory for the KV cache (default: 60 % of what is left after the weights)");
  serve->add_option("--chunk", options.engine.prefill_chunk, "Prompt tokens computed at once per sequence")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  serve->add_option("--max-running", options.engine.max_running, "Sequences computed at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  serve
      ->add_option("--max-requests", options.engine.max_requests,
                   "Requests accepted at once; more are answered 429")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  serve
      ->add_option("--max-queued-tokens", options.engine.max_queued_tokens,
                   "Prompt tokens waiting at once; more are answered 429")
      ->capture_default_str();
  serve->add_option("--workers", options.http.worker_threads, "Threads for JSON, templates and text")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  serve->add_option("--net-threads", options.http.net_threads, "Threads for sockets")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  add_size(serve, "--max-body", options.http.max_body, "Largest request body (default: 64M)");
  serve->add_option("--drain-timeout", drain_seconds, "Seconds that running requests may take after SIGTERM")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  serve->footer(
      "examples:\n"
      "  reprise serve -m SmolLM2-135M-Instruct.Q4_1.gguf\n"
      "  reprise serve -m llama.gguf --host 0.0.0.0 --port 9000 --api-key secret --kv-memory 16G\n"
      "  reprise serve -m SmolLM2-135M-Instruct.Q4_1.gguf --context 32768 --rope-scaling yarn:4\n"
      "  reprise serve --config reprise.toml      # model = \"llama.gguf\", port = 9000, kv-memory = "
      "\"16G\"");
  serve->callback([&action] {
    options.drain_timeout = static_cast<Nanos>(drain_seconds * kSecond);
    action = [] { return run_serve(options); };
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
  inspect->add_option("file", file, "Model file (GGUF)")->required();
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
  CLI::App* model = bench->add_subcommand("model", "Prefill and decode speed of a model");
  model->add_option("-m,--model", options.model_file, "Model file (GGUF)")->required()->type_name("FILE");
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

int run(int argc, char** argv) {
  CLI::App app{"Reprise serves open-weights language models to coding agents.", "reprise"};
  app.set_version_flag("--version", "reprise " REPRISE_VERSION);
  app.require_subcommand(1);
  std::string level = "info";
  app.add_option("--log-level", level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.fallthrough();
  std::function<int()> action;
  add_serve(app, action);
  add_chat(app, action);
  add_inspect(app, action);
  add_bench(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : 2;
  }
  log::init(level == "debug"   ? log::Level::kDebug
            : level == "info"  ? log::Level::kInfo
            : level == "warn"  ? log::Level::kWarn
            : level == "error" ? log::Level::kError
                               : log::Level::kOff);
  return action();
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) { return reprise::run(argc, argv); }
