// write_model_corpus FOLDER: the seeds of model_corpus.h, each target's in a folder of its name.
#include <cstdio>
#include <filesystem>

#include "model/testing/model_corpus.h"
#include "model/testing/safetensors_writer.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  for (const auto& [name, bytes] : reprise::testing::model_corpus()) {
    const std::filesystem::path path = std::filesystem::path(argv[1]) / name;
    std::filesystem::create_directories(path.parent_path());
    reprise::testing::write_file(path.string(), bytes);
  }
}
