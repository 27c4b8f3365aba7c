// write_gguf_corpus FOLDER: seeds for gguf_fuzz: small valid models, and ones damaged in ways of interest.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "model/testing/tiny_llama.h"

namespace {

using reprise::testing::GgufWriter;
using reprise::testing::TinyLlama;

void save(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  using enum reprise::kernels::WeightType;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const TinyLlama small{.types = {kQ8_0},
                        .layers = 1,
                        .hidden = 32,
                        .heads = 2,
                        .kv_heads = 1,
                        .head_dim = 16,
                        .feed_forward = 32,
                        .vocabulary = 4};
  const auto with = [&](auto&& change) {
    TinyLlama options = small;
    change(options);
    return make_tiny_llama(options);
  };
  const std::vector<std::byte> valid = make_tiny_llama(small).bytes();
  save(folder / "valid_v3.gguf", valid);
  save(folder / "valid_v2.gguf", make_tiny_llama(small).bytes(2));
  save(folder / "mixed_biases_untied.gguf", with([](TinyLlama& o) {
                                              o.types = {kF32, kF16, kBF16, kQ4_0, kQ4_1, kQ8_0};
                                              o.biases = true;
                                              o.tied = false;
                                            }).bytes());
  save(folder / "yarn.gguf", with([](TinyLlama& o) {
                               o.scaling = "yarn";
                               o.factor = 4;
                               o.original_context = 64;
                             }).bytes());
  save(folder / "llama3.gguf", with([](TinyLlama& o) {
                                 o.llama3_divisors = true;
                                 o.original_context = 64;
                               }).bytes());
  save(folder / "no_tensors.gguf", GgufWriter().put("general.architecture", "llama").bytes());
  save(
      folder / "alignment_64.gguf",
      GgufWriter().put("general.alignment", 64u).tensor("t", 0, {2}, std::vector<std::byte>(8)).bytes(3, 64));
  save(folder / "big_endian.gguf", make_tiny_llama(small).bytes(0x03000000));
  for (size_t part : {4, 20, 300, 1200})
    save(folder / ("truncated_" + std::to_string(part) + ".gguf"),
         {valid.begin(), valid.begin() + static_cast<ptrdiff_t>(part)});
  // One byte of counts, types and sizes set to 0xff, at a few places of the header.
  for (size_t at : {8, 15, 16, 24, 70, 400, 900}) {
    std::vector<std::byte> damaged = valid;
    damaged[at] = std::byte{0xff};
    save(folder / ("damaged_" + std::to_string(at) + ".gguf"), damaged);
  }
}
