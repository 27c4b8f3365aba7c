// A model folder as Hugging Face's hub has them: config.json, generation_config.json, one or several
// safetensors files, tokenizer.json, tokenizer_config.json, chat_template.jinja.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "model/model_file.h"

namespace reprise {

// The folder's contents under GGUF's names; besides GGUF's keys
// - {architecture}.rope.interleaved: false, since the rows of q and k are not permuted
// - tokenizer.huggingface.json: tokenizer.json, whole (the tokenizer's tables are not taken apart here)
// - tokenizer.huggingface.config_json: tokenizer_config.json, whole
// - tokenizer.ggml.eos_token_ids: every id of eos_token_id
// - tokenizer.huggingface.closing_token_ids: special added tokens that end a turn by their name
// Weights are memory-mapped: BF16, F16 or F32. Errors name the file that is missing or broken, or the field.
Result<ModelFile> open_huggingface(const std::filesystem::path& folder);

}  // namespace reprise
