// Sampling that a model's makers recommend: general.sampling.* of GGUF, generation_config.json of Hugging
// Face.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/sampling_params.h"
#include "model/model_file.h"

namespace reprise {

// Error: a key is no number. A number that no request may ask for is left out, with a note.
Result<SamplingParams> read_sampling_defaults(const ModelFile& file, std::vector<std::string>& notes);

// "temperature 0.6, top_p 0.95"; empty when all is as without a recommendation.
std::string describe(const SamplingParams& sampling);

}  // namespace reprise
