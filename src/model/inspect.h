// The text behind `reprise inspect FILE`: what a model file holds, and what of it this build can run.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace reprise {

// A report of several lines, ending in a newline: architecture, shapes, parameters, bytes by type, KV bytes
// per token (bf16), context, RoPE scaling, chat template, tokenizer, and, where it is so, why the file cannot
// be served. Reads the header only, not the weights. Text from the file is escaped: it cannot steer a
// terminal. Errors: not a readable GGUF.
Result<std::string> inspect_model_file(const std::filesystem::path& path);

}  // namespace reprise
