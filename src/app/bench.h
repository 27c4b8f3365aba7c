// `reprise bench roof|kernels|model`: prints rows as a table or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise {

struct BenchOptions {
  std::string model_file;
  uint32_t prompt = 512, gen = 128, depth = 0;
  std::string kernels;
  std::vector<std::string> types;  // of weights; empty = a choice
  int threads = 0;                 // 0 = all usable CPUs
  static constexpr const char* kStdout = "-";
  std::string json;  // file to write besides the table; kStdout = JSON instead of the table; empty = none
};

// Exit status: 0, 1 when a row falls short or the bench cannot run, 2 when a row is inconclusive.
int run_bench_roof(const BenchOptions& options);
int run_bench_kernels(const BenchOptions& options);
int run_bench_model(const BenchOptions& options);

}  // namespace reprise
