#include "app/serve_settings.h"

#include <limits>

#include <fmt/format.h>

#include "app/log_level.h"
#include "kernels/table.h"

namespace reprise {
namespace {

// A table in the making: one call a setting, its group that of the last heading.
class Table {
 public:
  void heading(std::string text) { group_ = std::move(text); }
  Setting& add(std::string name, std::string metavar, std::string help) {
    return settings.emplace_back(Setting{.name = std::move(name),
                                         .letter = {},
                                         .group = group_,
                                         .metavar = std::move(metavar),
                                         .help = std::move(help),
                                         .set = {},
                                         .show = {}});
  }
  template <typename Integer>
  void integer(std::string name, std::string help, Integer& target, int64_t lowest, int64_t highest) {
    Setting& setting = add(std::move(name), "N", std::move(help));
    bind_integer(
        setting, [&target] { return static_cast<int64_t>(target); },
        [&target](int64_t value) { target = static_cast<Integer>(value); }, lowest, highest);
  }
  void text(std::string name, std::string metavar, std::string help, std::string& target) {
    bind_text(add(std::move(name), std::move(metavar), std::move(help)), target);
  }
  void size(std::string name, std::string help, size_t& target) {
    bind_size(add(std::move(name), "SIZE", std::move(help)), target);
  }
  void on(std::string name, std::string help, bool& target) {
    bind_switch(add(std::move(name), "", std::move(help)), target);
  }

  std::vector<Setting> settings;

 private:
  std::string group_;
};

// "*" or what a browser sends as Origin: a scheme, a host, perhaps a port.
bool is_origin(std::string_view text) {
  if (text == "*") return true;
  const size_t scheme = text.find("://");
  return scheme != text.npos && scheme > 0 && scheme + 3 < text.size() &&
         text.find('/', scheme + 3) == text.npos;
}

}  // namespace

std::vector<Setting> serve_settings(ServeOptions& options) {
  options.http.port = 8000;
  options.http.max_body = size_t{64} << 20;
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  Table t;
  t.heading("Model");
  t.text("model", "PATH", "Model: a GGUF file, or a folder from Hugging Face", options.model_file);
  t.settings.back().letter = "m";
  t.text("model-name", "NAME", "Model id shown to clients (default: the file's name without .gguf)",
         options.model_name);
  t.integer("context", "Tokens a sequence may hold, 0 = as trained; more than that needs --rope-scaling",
            options.load.context, 0, std::numeric_limits<uint32_t>::max());
  t.text("rope-scaling", "KIND", "Replace the file's RoPE scaling: none, linear:F or yarn:F",
         options.load.rope_scaling);

  t.heading("Network");
  t.text("host", "ADDRESS", "Address to listen on", options.http.address);
  t.integer("port", "Port to listen on; 0 = any free one", options.http.port, 0, 65535);
  t.settings.back().letter = "p";
  t.text("api-key", "KEY", "Require this bearer token", options.api_key);
  t.settings.back().secret = true;
  t.settings.back().set = [&options](const std::string& text) -> Result<void> {
    if (text.empty()) return invalid("must not be empty; leave it out to serve without a key");
    options.api_key = text;
    return {};
  };
  bind_list(t.add("cors-origin", "ORIGIN", "Let web pages of this origin ask, '*' = of any; may be repeated"),
            options.cors_origins);
  t.size("max-body", "Largest request body", options.http.max_body);

  t.heading("Requests");
  t.on("strict-model", "Answer 404 to requests that name another model", options.strict_model);
  t.on("strict-modalities", "Refuse images and audio instead of leaving a placeholder",
       options.strict_modalities);
  t.integer("max-requests", "Requests accepted at once; more are answered 429", options.engine.max_requests,
            1, 1'000'000);
  t.integer("max-queued-tokens", "Prompt tokens waiting at once; more are answered 429",
            options.engine.max_queued_tokens, 1, kAny);
  bind_seconds(t.add("drain-timeout", "SECONDS", "Seconds that running requests may take after SIGTERM"),
               options.drain_timeout, 0, 86400);

  t.heading("Memory and scheduling");
  t.size("kv-memory", "Memory for the KV cache; auto = 60 % of what is left after the weights",
         options.engine.kv_memory);
  Setting& kv_type =
      t.add("kv-type", "TYPE", "How keys and values are kept: bf16, or int8 for twice the context");
  kv_type.set = [&options](const std::string& text) -> Result<void> {
    if (text != "bf16" && text != "int8") return invalid("must be bf16 or int8");
    options.load.kv_type = text == "int8" ? kernels::KvType::kInt8 : kernels::KvType::kBF16;
    return {};
  };
  kv_type.show = [&options] { return options.load.kv_type == kernels::KvType::kInt8 ? "int8" : "bf16"; };
  t.integer("chunk", "Prompt tokens computed at once per sequence", options.engine.prefill_chunk, 1, 65536);
  t.integer("max-running", "Sequences computed at once", options.engine.max_running, 1, 4096);

  t.heading("Threads and kernels");
  t.integer("threads", "Compute threads; 0 = all usable CPUs", options.threads, 0, 1024);
  t.settings.back().letter = "t";
  t.text("kernels", "TABLE",
         fmt::format("Force a kernel table: {} (default: the best for this CPU)", kernels::kTableNames),
         options.kernels);
  t.integer("workers", "Threads for JSON, templates and text", options.http.worker_threads, 1, 256);
  t.integer("net-threads", "Threads for sockets", options.http.net_threads, 1, 64);

  t.heading("Logging");
  Setting& log_level = t.add("log-level", "LEVEL", "debug, info, warn, error or off");
  log_level.set = [&options](const std::string& text) -> Result<void> {
    if (!log_level_of(text)) return invalid("must be debug, info, warn, error or off");
    options.log_level = text;
    return {};
  };
  log_level.show = [&options] { return options.log_level; };
  return std::move(t.settings);
}

Result<void> check_serve_options(const ServeOptions& options, const Settings& settings) {
  if (options.model_file.empty()) {
    return invalid(
        "there is no model to serve: give --model FILE, REPRISE_MODEL, or model = \"FILE\" in a config file");
  }
  // Fewer requests than may run, by default, is no contradiction.
  if (options.engine.max_running > options.engine.max_requests && settings.is_given("max-running")) {
    return invalid(
        "max-running ({}) is more than max-requests ({}), so it could never be reached: lower it, or raise "
        "max-requests",
        options.engine.max_running, options.engine.max_requests);
  }
  for (const std::string& origin : options.cors_origins) {
    if (!is_origin(origin)) {
      return invalid(
          "cors-origin '{}' is no origin: write it as https://host or https://host:port, or '*' for any",
          origin);
    }
  }
  return {};
}

}  // namespace reprise
