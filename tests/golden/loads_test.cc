// What loads: every architecture from every source in every weight type is tried with a small model, and
// docs/formats.md must have exactly the table that comes out. With REPRISE_UPDATE_DOCS set the table is
// written there instead.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "golden.h"
#include "kernels/weight_format.h"
#include "model/architectures.h"
#include "model/huggingface/families.h"
#include "model/huggingface/safetensors.h"
#include "model/testing/safetensors_writer.h"
#include "model/testing/tiny_llama.h"

namespace reprise::testing {
namespace {

using kernels::WeightType;

constexpr const char* kBegin = "<!-- table: begin -->\n";
constexpr const char* kEnd = "<!-- table: end -->\n";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool loads(const std::filesystem::path& path) {
  return load_model(path, pool(), kernels::ref_table()).has_value();
}

// Names of the types that load, "all" when none is missing.
std::string summary(const std::vector<std::string>& names, size_t possible) {
  if (names.empty()) return "-";
  if (names.size() == possible && possible > 3) return fmt::format("all {}", possible);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Loads : public ::testing::Test {
 protected:
  Loads() : folder_(std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_loads_{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Loads() override { std::filesystem::remove_all(folder_); }

  std::string types_of_gguf(std::string_view architecture, bool split) const {
    const auto models = oracle_models();
    const auto found = std::ranges::find(models, architecture, &TinyLlama::architecture);
    if (found == models.end()) return "not tried";
    std::vector<std::string> names;
    for (int i = 0; i < kernels::kWeightTypes; ++i) {
      TinyLlama tiny = *found;
      tiny.types = {static_cast<WeightType>(i)};
      tiny.hidden = tiny.feed_forward = 256;  // whole blocks of every type
      tiny.heads = 4, tiny.kv_heads = 2, tiny.head_dim = 64, tiny.rotary = 0;
      tiny.experts.inner = 256;
      const GgufWriter writer = make_tiny_llama(tiny);
      auto path = folder_ / "m.gguf";
      if (split) {
        const auto parts = writer.split(2);
        for (int part = 1; part <= 2; ++part) {
          path = folder_ / fmt::format("m-{:05}-of-00002.gguf", part);
          parts[static_cast<size_t>(part - 1)].write(path);
        }
      } else {
        writer.write(path);
      }
      if (loads(path)) names.push_back(kernels::name(static_cast<WeightType>(i)));
    }
    return summary(names, kernels::kWeightTypes);
  }

  static std::optional<std::filesystem::path> saved_folder(std::string_view model_type) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(REPRISE_ROOT) / "tests/golden/folders")) {
      const auto config = boost::json::parse(read_file(entry.path() / "config.json"));
      if (std::string_view(config.at("model_type").as_string()) == model_type) return entry.path();
    }
    return std::nullopt;
  }

  static std::string architecture_of_folder(std::string_view model_type) {
    const auto path = saved_folder(model_type);
    if (!path) return "not tried";
    const auto file = ModelFile::open(*path);
    return file ? std::string(file->require<std::string_view>("general.architecture").value()) : "";
  }

  // A folder that transformers saved, with all its tensors in another type.
  std::string types_of_folder(std::string_view model_type) const {
    const auto saved = saved_folder(model_type);
    if (!saved) return "not tried";
    std::vector<std::string> names;
    for (const WeightType type : {WeightType::kF32, WeightType::kF16, WeightType::kBF16}) {
      const auto copy = folder_ / "folder";
      std::filesystem::remove_all(copy);
      std::filesystem::create_directories(copy);
      std::filesystem::copy_file(*saved / "config.json", copy / "config.json");
      write_file((copy / "model.safetensors").string(), safetensors(tensors_of(*saved, type)));
      if (loads(copy)) names.push_back(kernels::name(type));
    }
    return summary(names, 3);
  }

  static std::vector<SafeTensorToWrite> tensors_of(const std::filesystem::path& path, WeightType type) {
    std::vector<SafeTensorToWrite> tensors;
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      if (file.path().extension() != ".safetensors") continue;
      const std::string bytes = read_file(file.path());
      const auto parsed = parse_safetensors(std::as_bytes(std::span(bytes)));
      for (const SafeTensor& t : parsed->tensors) {
        const WeightType from = t.type == "F32"   ? WeightType::kF32
                                : t.type == "F16" ? WeightType::kF16
                                                  : WeightType::kBF16;
        std::vector<float> values(t.bytes.size() / kernels::block_bytes(from));
        kernels::dequantize_row(from, t.bytes.data(), static_cast<uint32_t>(values.size()), values.data());
        tensors.push_back({t.name, kernels::name(type), t.shape, encoded(values, type)});
      }
    }
    return tensors;
  }
  static std::vector<std::byte> encoded(const std::vector<float>& values, WeightType type) {
    const size_t size = kernels::block_bytes(type);
    std::vector<std::byte> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto bits = std::bit_cast<uint32_t>(values[i]);
      // Truncated; as fp16 only the magnitude's place matters here: 0.5 .. 1 with the value's sign.
      const uint32_t number = type == WeightType::kF32 ? bits
                              : type == WeightType::kBF16
                                  ? bits >> 16
                                  : (bits >> 16 & 0x8000) | 0x3800 | (bits >> 13 & 0x3ff);
      std::memcpy(bytes.data() + i * size, &number, size);
    }
    return bytes;
  }

  std::filesystem::path folder_;
};

TEST_F(Loads, TheTableOfTheDocsIsWhatLoads) {
  std::string table =
      "| architecture | GGUF | GGUF, split | Hugging Face folder (`model_type`: types) "
      "|\n|---|---|---|---|\n";
  for (const Architecture* architecture : architectures()) {
    std::string folders;
    for (const HuggingFaceFamily& family : families())
      if (family.architecture == architecture->name)
        folders += fmt::format("{}`{}`: {}", folders.empty() ? "" : "; ", family.model_type,
                               types_of_folder(family.model_type));
    for (const HuggingFaceWrapper& wrapper : wrappers())
      if (architecture_of_folder(wrapper.model_type) == architecture->name)
        folders += fmt::format("{}`{}`: {}", folders.empty() ? "" : "; ", wrapper.model_type,
                               types_of_folder(wrapper.model_type));
    table +=
        fmt::format("| `{}` | {} | {} | {} |\n", architecture->name, types_of_gguf(architecture->name, false),
                    types_of_gguf(architecture->name, true), folders.empty() ? "-" : folders);
  }
  std::string all;
  for (int i = 0; i < kernels::kWeightTypes; ++i)
    all += fmt::format("{}{}", i > 0 ? ", " : "", kernels::name(static_cast<WeightType>(i)));
  table += fmt::format("\nAll {}: {}.\n", kernels::kWeightTypes, all);
  EXPECT_EQ(table.find("not tried"), table.npos)
      << "an architecture or a family has no small model: " << table;

  const auto docs = std::filesystem::path(REPRISE_ROOT) / "docs/formats.md";
  std::string text = read_file(docs);
  const size_t begin = text.find(kBegin), end = text.find(kEnd);
  ASSERT_TRUE(begin != text.npos && end != text.npos && begin < end) << "no markers in " << docs;
  const size_t from = begin + std::strlen(kBegin);
  if (std::getenv("REPRISE_UPDATE_DOCS")) {
    std::ofstream(docs, std::ios::binary) << text.replace(from, end - from, table);
  } else {
    EXPECT_EQ(text.substr(from, end - from), table) << "docs/formats.md is out of date: run golden_test "
                                                       "--gtest_filter='Loads*' with REPRISE_UPDATE_DOCS=1";
  }
}

}  // namespace
}  // namespace reprise::testing
