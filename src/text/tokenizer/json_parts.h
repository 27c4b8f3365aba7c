// The parts of a tokenizer.json that are lists of steps. Each reader takes the part's value (null: no steps).
// Errors: kInvalid names the place; kUnsupported names the type that is not known.
#pragma once

#include <optional>
#include <vector>

#include "text/tokenizer/decoder.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pretokenizer.h"

namespace reprise {

Result<std::vector<Normalizer::Step>> read_normalizer(const JsonNode& node);
Result<Normalizer::Step> read_replace(const JsonNode& node);  // normalizers and decoders have this step

struct JsonPretokenizer {
  Pretokenizer pretokenizer;
  // The last step writes bytes as letters. It is left out of `pretokenizer`: the model may work on bytes.
  bool byte_level = false;
};
// `bytes`: the model can work on bytes.
Result<JsonPretokenizer> read_pretokenizer(const JsonNode& node, bool bytes);

Result<std::vector<Decoder::Step>> read_decoder(const JsonNode& node);

}  // namespace reprise
