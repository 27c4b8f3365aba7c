// The tokenizer's data and the stop tokens of a GGUF file.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/vocabulary.h"
#include "model/gguf.h"

namespace reprise {

// Copies tokenizer.ggml.*. A file without tokens gives an empty vocabulary (such a model serves token ids
// only). `size`: rows of the token embedding. Errors name the key: counts that differ, ids out of range,
// wrong types.
Result<Vocabulary> read_vocabulary(const GgufFile& file, uint32_t size);

// Ids that end a generation, ascending: eos, eot and eom by key, and control tokens with a well-known closing
// name (files often name only one of them: Llama 3's turns end with <|eot_id|>, its text with
// <|end_of_text|>).
Result<std::vector<TokenId>> read_stop_tokens(const GgufFile& file, const Vocabulary& vocabulary);

}  // namespace reprise
