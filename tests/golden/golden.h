// The golden files (tests/golden/NAME.{json,bin}, written by tools/oracle/golden.py) and the real model they
// need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task_pool.h"
#include "model/load.h"

namespace reprise::testing {

struct Golden {
  std::vector<TokenId> tokens;
  std::vector<uint32_t> positions;
  std::vector<std::string> models;
  uint32_t stride = 1;
  std::vector<float> logits;  // [model][position][every stride-th of the vocabulary]
};
Golden read_golden(const std::string& name);

// SmolLM2-135M-Instruct: $REPRISE_TEST_MODEL, or where ./dev caches it. Nothing when it is in neither place
// and the variable is not set (a bare machine); `./dev test` always sets it.
std::optional<std::filesystem::path> smollm2();
// Gemma 3 270M where ./dev caches it, or nothing.
std::optional<std::filesystem::path> gemma3();

// Sanitizers make the reference some ten times slower: their builds check fewer positions.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// max |a - b| / max |b|
float relative_error(std::span<const float> a, std::span<const float> b);

TaskPool& pool();
std::unique_ptr<Model> load(const std::filesystem::path& path, const kernels::Table& table,
                            const LoadOptions& options = {});  // fails the test or loads

}  // namespace reprise::testing
