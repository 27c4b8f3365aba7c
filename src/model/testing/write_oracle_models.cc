// write_oracle_models FOLDER: the small random models that tools/oracle computes golden logits for, as
// ARCHITECTURE/NAME.gguf.
#include <cstdio>
#include <filesystem>

#include "model/testing/tiny_llama.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  for (const auto& options : reprise::testing::oracle_models()) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / options.architecture;
    std::filesystem::create_directories(folder);
    make_tiny_llama(options).write(folder / (options.name + ".gguf"));
  }
}
