// The tokenizer's data and the stop tokens of a model file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/vocabulary.h"
#include "model/gguf.h"

namespace reprise {

// Copies tokenizer.ggml.*, and tokenizer.huggingface.json where there are no such tables. A file without
// tokens gives an empty vocabulary (such a model serves token ids only). `size`: rows of the token embedding;
// single ids past them are left out, with a note. Errors name the key: counts that differ, wrong types.
Result<Vocabulary> read_vocabulary(const ModelFile& file, uint32_t size, std::vector<std::string>& notes);

// Ids that end a generation, ascending: eos, eot and eom by key, and control tokens with a well-known closing
// name (files often name only one of them: Llama 3's turns end with <|eot_id|>, its text with
// <|end_of_text|>).
// With Hugging Face's tokenizer.json: the ids of eos_token_id and the special added tokens of such names.
// `size` and `notes` as above.
Result<std::vector<TokenId>> read_stop_tokens(const ModelFile& file, const Vocabulary& vocabulary,
                                              uint32_t size, std::vector<std::string>& notes);

// Whether a control token of this text ends a generation, in a model of this architecture.
bool ends_generation(std::string_view token, std::string_view architecture);

}  // namespace reprise
