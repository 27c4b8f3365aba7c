#include "app/bench.h"

#include <cstdio>
#include <vector>

#include <unistd.h>

#include "probe/kernel_speed.h"
#include "probe/model_speed.h"
#include "probe/roof.h"

namespace reprise {
namespace {

// Prints the rows as a table or as JSON, or writes the JSON to a file beside the table; says how they went as
// an exit status.
int report(const BenchOptions& options, const Result<std::vector<BenchRow>>& rows) {
  const auto fail_with = [](const std::string& message) {
    std::fprintf(stderr, "reprise bench: %s\n", message.c_str());
    return 1;
  };
  if (!rows) return fail_with(rows.error().message);
  const bool print_json = options.json == BenchOptions::kStdout;
  std::fputs((print_json ? to_json(*rows) : to_text(*rows)).c_str(), stdout);
  if (!options.json.empty() && !print_json) {
    std::FILE* file = std::fopen(options.json.c_str(), "w");
    if (!file) return fail_with("cannot write " + options.json);
    const std::string text = to_json(*rows);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) != 0 || !written) return fail_with("cannot write " + options.json);
  }
  return exit_status(*rows);
}

// What is being done, on one line of the terminal; nothing when standard error is no terminal.
void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

void clear_progress() { show_progress(""); }

}  // namespace

int run_bench_roof(const BenchOptions& options) {
  return report(options, bench_roof({.threads = options.threads, .kernels = options.kernels}));
}

int run_bench_kernels(const BenchOptions& options) {
  KernelBenchOptions wanted{.threads = options.threads, .kernels = options.kernels};
  if (!options.types.empty()) wanted.types = options.types;
  return report(options, bench_kernels(wanted));
}

int run_bench_model(const BenchOptions& options) {
  const auto rows = bench_model({.file = options.model_file,
                                 .prompt = options.prompt,
                                 .generate = options.gen,
                                 .depth = options.depth,
                                 .threads = options.threads,
                                 .kernels = options.kernels},
                                show_progress);
  clear_progress();
  return report(options, rows);
}

}  // namespace reprise
