#include "model/architectures.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr Architecture kArchitectures[] = {
    {"llama", load_llama},
};

std::string names() {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    if (!names.empty()) names += ", ";
    names += architecture.name;
  }
  return names;
}

}  // namespace

Result<const Architecture*> architecture_of(const GgufFile& file) {
  const auto name = TRY(file.require<std::string_view>("general.architecture"));
  const auto* found = std::ranges::find(kArchitectures, name, &Architecture::name);
  if (found != std::end(kArchitectures)) return found;
  return std::unexpected(
      Error{ErrorKind::kUnsupported,
            fmt::format("architecture \"{}\" is not supported (supported: {})", printable(name, 40), names()),
            "general.architecture"});
}

Result<DecoderConfig> read_config(const GgufFile& file, WeightLoader& weights) {
  TRY(architecture_of(file));
  DecoderConfig config = TRY(read_decoder_config(file));
  constexpr const char* kDivisors = "rope_freqs.weight";
  if (!weights.has(kDivisors)) return config;
  config.rope.divisors = TRY(weights.vector(kDivisors, config.rope.rotary / 2));
  for (float divisor : config.rope.divisors)
    if (!(divisor > 0 && divisor < 1e9f))
      return invalid_param(kDivisors, "tensor {} holds {}, wanted numbers above 0", kDivisors, divisor);
  return config;
}

}  // namespace reprise
