// Design: HTTP is up first, so that /health/ready says 503 while the model loads on a thread of its own; the
// main thread waits for signals. Stopping: readiness goes 503, the engine takes nothing new, running requests
// end (for at most drain_timeout), then sockets close and the engine stops. A second signal cuts the wait
// short.
#include "app/serve.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "api/api.h"
#include "app/progress.h"
#include "base/log.h"
#include "base/size.h"
#include "base/task_pool.h"
#include "model/sampling_defaults.h"
#include "text/chat_template.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {
namespace {

// Thousands of streams need thousands of descriptors: take what the hard limit allows.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);  // the loader thread's "done"
  return set;
}

// A file's name without its ending, a folder's whole: those often end in a version.
std::string name_of(const std::filesystem::path& path) {
  std::error_code error;
  auto whole = std::filesystem::weakly_canonical(path, error);
  if (error) whole = path;
  return (std::filesystem::is_directory(whole, error) ? whole.filename() : whole.stem()).string();
}

struct Loaded {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;
  std::string no_chat = "the model file has no chat template";  // if there is none
  ModelInfo info;
  std::unique_ptr<Engine> engine;
};

Result<Loaded> load(const ServeOptions& options, TaskPool& pool, const kernels::Table& table) {
  const Nanos start = now();
  Loaded loaded;
  std::unique_ptr<Model> model;
  {
    Progress progress("loading " + options.model_file);
    model = TRY(load_model(options.model_file, pool, table, options.load,
                           [&](const LoadProgress& p) { progress.update(p.bytes_done, p.bytes_total); }));
  }
  loaded.info = model->info();
  // Clients put the id into config files and URLs. The title inside the file is prose: often with spaces, and
  // the same for every quantisation.
  const std::string title = std::exchange(loaded.info.name, options.model_name);
  if (loaded.info.name.empty()) loaded.info.name = name_of(options.model_file);
  loaded.tokenizer = TRY(Tokenizer::create(loaded.info.vocabulary));
  if (!loaded.info.chat_template.empty()) {
    const auto text_of = [&](std::optional<TokenId> id) {
      return id ? std::string(loaded.tokenizer->bytes(*id)) : std::string();
    };
    auto parsed = ChatTemplate::parse(loaded.info.chat_template, text_of(loaded.info.vocabulary.bos),
                                      text_of(loaded.info.vocabulary.eos));
    if (parsed) {
      loaded.chat_template = std::move(*parsed);
    } else {
      loaded.no_chat = fmt::format("its chat template cannot be used: {}", parsed.error().message);
    }
  }
  if (!loaded.chat_template) log::warn("/v1/chat/completions will be refused: {}", loaded.no_chat);
  const size_t weights = model->weight_bytes();
  loaded.engine = TRY(open_engine(std::move(model), pool, options.engine));
  loaded.info.context_length =
      loaded.engine->limits().context;  // little KV memory may allow less than the model
  log::info("{} ({}): {} of weights loaded in {:.1f} s, kernels {}, {} compute threads", loaded.info.name,
            title, format_size(weights), to_seconds(now() - start), table.name, pool.threads());
  if (const std::string sampling = describe(loaded.info.sampling); !sampling.empty())
    log::info("sampling, where a request does not say: {} (the model's own)", sampling);
  log::info("stop tokens: {}", fmt::join(loaded.info.stop_tokens, ", "));
  for (const std::string& note : loaded.info.notes) log::info("{}", note);
  log::info("{}", loaded.engine->limits().describe());
  return loaded;
}

}  // namespace

int run_serve(const ServeOptions& options) {
  const auto die = [](const Error& error) {
    std::fprintf(stderr, "reprise serve: %s\n", error.message.c_str());
    return 1;
  };
  raise_file_limit();
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread: they inherit it
  std::signal(SIGPIPE, SIG_IGN);

  const auto table = kernels::select(options.kernels);
  if (!table) return die(table.error());

  // Declared in the order in which things may go: the server's handlers end before the engine, the engine
  // before the pool.
  TaskPool pool(options.threads > 0 ? options.threads : usable_cpus());
  Api api(ApiOptions{.version = REPRISE_VERSION,
                     .api_key = options.api_key,
                     .strict_model = options.strict_model,
                     .strict_modalities = options.strict_modalities,
                     .cors_origins = options.cors_origins,
                     .max_body = options.http.max_body});
  Result<Loaded> loaded = fail(ErrorKind::kUnavailable, "not loaded");
  http::ServerOptions http_options = options.http;
  http_options.refusal = api.refusal();
  auto server = http::Server::start(http_options, api.handler());
  if (!server) return die(server.error());
  const std::string& address = options.http.address;
  const std::string host = address.find(':') == address.npos ? address : "[" + address + "]";
  const std::string origin = fmt::format("http://{}:{}", host, (*server)->port());
  log::info("listening on {}", origin);

  std::atomic<bool> done = false;
  std::thread loader([&] {
    loaded = load(options, pool, **table);
    done = true;
    kill(getpid(), SIGUSR1);
  });
  int signal = 0;
  do {
    sigwait(&signals, &signal);
    // A load cannot be cut short, and holds nothing that outlives the process.
    if (signal != SIGUSR1 && !done) {
      log::info("stopped while loading");
      std::_Exit(0);
    }
  } while (!done);
  loader.join();
  if (!loaded) {
    (*server)->stop(0);
    return die(loaded.error());
  }
  const bool chats = loaded->chat_template.has_value();
  api.set_model(ServedModel{.info = loaded->info,
                            .tokenizer = std::move(loaded->tokenizer),
                            .chat_template = std::move(loaded->chat_template),
                            .no_chat = loaded->no_chat,
                            .backend = loaded->engine.get(),
                            .file = std::filesystem::path(options.model_file).filename().string(),
                            .max_requests = loaded->engine->limits().max_requests,
                            .created = time(nullptr)});
  log::info("ready: curl {}/v1/{} -H 'content-type: application/json' -d '{}'", origin,
            chats ? "chat/completions" : "completions",
            chats ? R"({"stream":true,"messages":[{"role":"user","content":"Hello"}]})"
                  : R"({"stream":true,"prompt":"Once upon a time"})");

  while (signal == SIGUSR1) sigwait(&signals, &signal);
  log::info("stopping: running requests may take {:.0f} s more; signal again to cut them",
            to_seconds(options.drain_timeout));
  api.set_draining();
  loaded->engine->drain();
  const Nanos deadline = now() + options.drain_timeout;
  bool idle = false, cut = false;
  while (!idle && !cut && now() < deadline) {
    idle = loaded->engine->wait_idle(100 * kMillisecond);
    const timespec none{};
    cut = sigtimedwait(&signals, nullptr, &none) > 0;
  }
  if (!idle)
    log::warn("cutting {} running requests",
              loaded->engine->stats().running + loaded->engine->stats().waiting);
  // Finished answers still have bytes on their way to the client.
  if (!idle) loaded->engine->stop();
  (*server)->stop(cut ? 0 : 5 * kSecond);
  loaded->engine->stop();
  log::info("stopped");
  return 0;
}

}  // namespace reprise
