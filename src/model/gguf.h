// GGUF v2 and v3, little-endian: header, typed metadata and tensor table of a memory-mapped model file, or of
// the parts of a split one (NAME-00001-of-00003.gguf) as if they were one file.
// Specification: github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#pragma once

#include <filesystem>
#include <span>

#include "model/model_file.h"

namespace reprise {

// Any part of a split file stands for the whole: the others are looked for beside it. Errors name the part
// that is missing or does not belong to the others.
Result<ModelFile> open_gguf(const std::filesystem::path& path);
// Over bytes in memory, which must outlive the result. For tests and fuzzing.
Result<ModelFile> parse_gguf(std::span<const std::byte> bytes);

}  // namespace reprise
