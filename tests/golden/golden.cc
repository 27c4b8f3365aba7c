#include "golden.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <boost/json.hpp>

#include "base/check.h"

namespace reprise::testing {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file.good(), "cannot read {}", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// Where ./dev keeps the models that it fetches.
std::optional<std::filesystem::path> cached_model(const char* file) {
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (!home && !cache) return std::nullopt;
  const std::filesystem::path path =
      (cache ? std::filesystem::path(cache) : std::filesystem::path(home) / ".cache") / "reprise/models" /
      file;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace

Golden read_golden(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(REPRISE_ROOT) / "tests/golden";
  const boost::json::value json = boost::json::parse(read_file(folder / (name + ".json")));
  const std::string bytes = read_file(folder / (name + ".bin"));
  Golden golden{.tokens = boost::json::value_to<std::vector<TokenId>>(json.at("tokens")),
                .positions = boost::json::value_to<std::vector<uint32_t>>(json.at("positions")),
                .models = boost::json::value_to<std::vector<std::string>>(json.at("models")),
                .stride = json.as_object().contains("stride") ? json.at("stride").to_number<uint32_t>() : 1,
                .logits = std::vector<float>(bytes.size() / sizeof(float))};
  std::memcpy(golden.logits.data(), bytes.data(), golden.logits.size() * sizeof(float));
  return golden;
}

std::optional<std::filesystem::path> smollm2() {
  if (const char* given = std::getenv("REPRISE_TEST_MODEL")) return given;
  return cached_model("SmolLM2-135M-Instruct.Q4_1.gguf");
}

std::optional<std::filesystem::path> gemma3() { return cached_model("gemma-3-270m.Q4_K_M.gguf"); }

float relative_error(std::span<const float> a, std::span<const float> b) {
  CHECK(a.size() == b.size());
  float worst = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i])) return INFINITY;
    worst = std::max(worst, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return worst / largest;
}

TaskPool& pool() {
  static TaskPool pool(usable_cpus(), /*pin=*/false);
  return pool;
}

std::unique_ptr<Model> load(const std::filesystem::path& path, const kernels::Table& table,
                            const LoadOptions& options) {
  auto model = load_model(path, pool(), table, options);
  CHECK(model.has_value(), "{}", model.error().message);
  return std::move(*model);
}

}  // namespace reprise::testing
