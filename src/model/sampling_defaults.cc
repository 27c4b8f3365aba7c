#include "model/sampling_defaults.h"

namespace reprise {

Result<SamplingParams> read_sampling_defaults(const ModelFile& file, std::vector<std::string>& notes) {
  SamplingParams sampling;
  // The ranges that requests have (api/generation_fields.cc).
  const auto read = [&](const char* key, double least, double most, auto& value) -> Result<void> {
    const auto number = TRY(file.find<double>(key));
    if (!number) return {};
    if (*number >= least && *number <= most) {
      value = static_cast<std::remove_reference_t<decltype(value)>>(*number);
    } else {
      notes.push_back(
          fmt::format("key {} is {:g}, not within {:g} to {:g}, and was ignored", key, *number, least, most));
    }
    return {};
  };
  TRY(read("general.sampling.temp", 0, 2, sampling.temperature));
  TRY(read("general.sampling.top_p", 1e-6, 1, sampling.top_p));
  TRY(read("general.sampling.top_k", 0, 1 << 30, sampling.top_k));
  TRY(read("general.sampling.min_p", 0, 1, sampling.min_p));
  TRY(read("general.sampling.penalty_repeat", 0.01, 10, sampling.repetition_penalty));
  return sampling;
}

std::string describe(const SamplingParams& s) {
  const SamplingParams usual;
  std::string text;
  const auto add = [&](const char* name, double value, double neutral) {
    if (value != neutral) text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name, value);
  };
  add("temperature", s.temperature, usual.temperature);
  add("top_p", s.top_p, usual.top_p);
  add("top_k", s.top_k, usual.top_k);
  add("min_p", s.min_p, usual.min_p);
  add("repetition_penalty", s.repetition_penalty, usual.repetition_penalty);
  return text;
}

}  // namespace reprise
