// Any bytes as a model file: parsing, configuration, vocabulary and shape checks must refuse or accept, never
// crash, hang or take memory out of proportion. What passes the checks and is small is loaded and run for a
// token. An input that begins with GGUS is a split file: a byte with the number of parts less one, then each
// part, those but the last after their length of four bytes. Mutations change the structure as often as the
// bytes.
#include <cstring>
#include <random>
#include <string_view>

#include "model/gguf.h"
#include "model/testing/fuzz_folder.h"
#include "model/testing/gguf_mutator.h"
#include "model/testing/run_small_model.h"

namespace {

using reprise::testing::fuzz_folder;

void run_split(std::string_view input) {
  if (input.empty()) return;
  const unsigned parts = static_cast<uint8_t>(input[0]) % 8 + 1u;
  input.remove_prefix(1);
  const auto path = [&](unsigned part) { return fmt::format("m-{:05}-of-{:05}.gguf", part, parts); };
  for (unsigned part = 1; part <= parts; ++part) {
    uint32_t length = UINT32_MAX;
    if (part < parts && input.size() >= sizeof length) {
      std::memcpy(&length, input.data(), sizeof length);
      input.remove_prefix(sizeof length);
    }
    const std::string_view bytes = input.substr(0, length);
    fuzz_folder("gguf").write(path(part), bytes);
    input.remove_prefix(bytes.size());
  }
  const auto file = reprise::open_gguf(fuzz_folder("gguf").path() / path(1));
  if (file) (void)reprise::testing::run_small_model(*file);
}

}  // namespace

// Present in fuzz builds only.
extern "C" __attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 2 == 0)
    if (auto parts = reprise::testing::GgufParts::read({reinterpret_cast<const std::byte*>(data), size})) {
      for (unsigned i = 1 + random() % 3; i > 0; --i) parts->mutate(random);
      const auto made = parts->write();
      if (made.size() <= max_size) {
        std::memcpy(data, made.data(), made.size());
        return made.size();
      }
    }
  return LLVMFuzzerMutate != nullptr ? LLVMFuzzerMutate(data, size, max_size) : size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with("GGUS")) {
    run_split(input.substr(4));
    return 0;
  }
  const auto file = reprise::parse_gguf({reinterpret_cast<const std::byte*>(data), size});
  if (file) (void)reprise::testing::run_small_model(*file);
  return 0;
}
