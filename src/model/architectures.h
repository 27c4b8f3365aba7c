// The architectures this build runs. Adding one: a file with its loader, and its line in architectures.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/decoder.h"

namespace reprise {

struct Architecture {
  std::string_view name;  // general.architecture
  // Takes the weights it needs, all of them checked. With a checking WeightLoader the model must not be run.
  Result<std::unique_ptr<Decoder>> (*load)(const LoadContext& context);
};

// The architecture a file names, or an error that names it.
Result<const Architecture*> architecture_of(const GgufFile& file);
// The file's configuration with its RoPE divisors. `weights` takes note of the tensor read.
Result<DecoderConfig> read_config(const GgufFile& file, WeightLoader& weights);

Result<std::unique_ptr<Decoder>> load_llama(const LoadContext& context);

}  // namespace reprise
