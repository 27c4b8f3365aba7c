#include "model/architectures.h"

#include <algorithm>

namespace reprise {

namespace {

#define REPRISE_LIST(name) &name##_architecture,
constexpr const Architecture* kArchitectures[] = {REPRISE_ARCHITECTURES(REPRISE_LIST)};
#undef REPRISE_LIST

std::string names() {
  std::string names;
  for (const Architecture* architecture : kArchitectures) {
    if (!names.empty()) names += ", ";
    names += architecture->name;
  }
  return names;
}

}  // namespace

std::span<const Architecture* const> architectures() { return kArchitectures; }

Result<const Architecture*> architecture_of(const ModelFile& file) {
  const auto name = TRY(file.require<std::string_view>("general.architecture"));
  const auto* found =
      std::ranges::find_if(kArchitectures, [&](const Architecture* a) { return a->name == name; });
  if (found != std::end(kArchitectures)) return *found;
  return std::unexpected(
      Error{ErrorKind::kUnsupported,
            fmt::format("architecture \"{}\" is not supported (supported: {})", printable(name, 40), names()),
            "general.architecture"});
}

Result<DecoderConfig> read_config(const ModelFile& file, WeightLoader& weights) {
  const Architecture& architecture = *TRY(architecture_of(file));
  ModelKeys keys(file, architecture.name);
  DecoderConfig config = TRY(read_decoder_config(file, keys));
  if (architecture.configure) TRY(architecture.configure(keys, config));
  TRY(keys.check_unread(config.notes));
  constexpr const char* kDivisors = "rope_freqs.weight";
  if (!weights.has(kDivisors)) return config;
  config.rope.divisors = TRY(weights.vector(kDivisors, config.rope.rotary / 2));
  for (float divisor : config.rope.divisors)
    if (!(divisor > 0 && divisor < 1e9f))
      return invalid_param(kDivisors, "tensor {} holds {}, wanted numbers above 0", kDivisors, divisor);
  return config;
}

}  // namespace reprise
