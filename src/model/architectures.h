// The architectures this build runs. Adding one: a file architectures/NAME.cc that defines NAME_architecture,
// and NAME in the list below.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/decoder.h"

namespace reprise {

struct Architecture {
  std::string_view name;  // general.architecture
  // Reads the keys that only this architecture has and checks what it needs of the others; may be null.
  Result<void> (*configure)(ModelKeys& keys, DecoderConfig& config);
  // Takes the weights it needs, all of them checked. With a checking WeightLoader the model must not be run.
  Result<std::unique_ptr<Decoder>> (*load)(const LoadContext& context);
};

#define REPRISE_ARCHITECTURES(X) \
  X(gemma3)                      \
  X(llama)                       \
  X(glm4moe)                     \
  X(gpt_oss)                     \
  X(mistral3)                    \
  X(qwen2)                       \
  X(qwen3)                       \
  X(qwen3moe)
#define REPRISE_DECLARE(name) extern const Architecture name##_architecture;
REPRISE_ARCHITECTURES(REPRISE_DECLARE)
#undef REPRISE_DECLARE

std::span<const Architecture* const> architectures();
// The architecture a file names, or an error that names it.
Result<const Architecture*> architecture_of(const ModelFile& file);
// The file's configuration with its RoPE divisors. `weights` takes note of the tensor read. Error: a key that
// changes the results and that the architecture does not know, by name.
Result<DecoderConfig> read_config(const ModelFile& file, WeightLoader& weights);

}  // namespace reprise
