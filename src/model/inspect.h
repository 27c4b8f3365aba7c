// The text behind `reprise inspect FILE`: what a model file holds, and what of it this build can run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "core/vocabulary.h"

namespace reprise {

// Whether the text side can use a vocabulary; what it lacks is the error.
using VocabularyCheck = std::function<Result<void>(const Vocabulary&)>;

// A report of several lines, ending in a newline: architecture, shapes, parameters, bytes by type, KV bytes
// per token of each KV type, context, RoPE scaling, chat template, tokenizer, and, where it is so, why the
// file cannot be served. Reads the header only, not the weights. Text from the file is escaped: it cannot
// steer a terminal. Errors: not a readable GGUF file or folder.
Result<std::string> inspect_model_file(const std::filesystem::path& path, const VocabularyCheck& usable);

}  // namespace reprise
