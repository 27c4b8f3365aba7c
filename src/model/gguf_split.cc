// Opening a model file, whole or split. A split file's first part has the metadata, and each part its own
// tensors; llama.cpp's gguf-split names part 2 of 3 NAME-00002-of-00003.gguf and writes into every part its
// number, how many parts there are, and how many tensors they have together.
#include "model/gguf.h"

namespace reprise {
namespace {

constexpr uint32_t kMaxParts = 4096;
constexpr std::string_view kSuffix = "-00001-of-00003.gguf";

struct Split {
  uint32_t number = 0, count = 1;   // the first part is number 0
  std::optional<uint64_t> tensors;  // of all parts
};

Result<Split> read_split(const ModelFile& file) {
  Split split;
  split.number = TRY(file.get_or<uint32_t>("split.no", 0));
  split.count = TRY(file.get_or<uint32_t>("split.count", 1));
  split.tensors = TRY(file.find<uint64_t>("split.tensors.count"));
  if (split.count == 0) split.count = 1;  // written by some tools for a file that is not split
  if (split.count > kMaxParts)
    return invalid_param("split.count", "key split.count is {}, wanted at most {}", split.count, kMaxParts);
  if (split.number >= split.count)
    return invalid_param("split.no", "key split.no is {}, but there are {} parts", split.number, split.count);
  return split;
}

std::string part_name(std::string_view stem, uint32_t number, uint32_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", stem, number + 1, count);
}

Result<ModelFile> open_part(const std::filesystem::path& path) {
  MappedFile mapped = TRY(MappedFile::open(path));
  auto file = parse_gguf(mapped.bytes());
  if (!file) {
    file.error().message = path.string() + ": " + file.error().message;
    return file;
  }
  file->keep(std::move(mapped));
  return file;
}

}  // namespace

Result<ModelFile> open_gguf(const std::filesystem::path& path) {
  ModelFile given = TRY(open_part(path));
  const Split split = TRY(read_split(given));
  if (split.count == 1) return given;

  const std::string name = path.filename().string();
  const std::string stem = name.substr(0, name.size() - std::min(name.size(), kSuffix.size()));
  if (name != part_name(stem, split.number, split.count))
    return invalid(
        "{}: this is part {} of {} of a split file, so its name should end in {}: rename it as it was",
        path.string(), split.number + 1, split.count, part_name("", split.number, split.count));
  std::optional<ModelFile> whole;
  for (uint32_t i = 0; i < split.count; ++i) {
    const auto part_path = path.parent_path() / part_name(stem, i, split.count);
    std::error_code error;
    if (!std::filesystem::exists(part_path, error))
      return fail(ErrorKind::kNotFound, "{}: part {} of {} {}: {}", path.string(), i + 1, split.count,
                  error ? "cannot be had (" + error.message() + ")" : "is missing", part_path.string());
    ModelFile part = i == split.number ? std::move(given) : TRY(open_part(part_path));
    const Split own = TRY(read_split(part));
    if (own.number != i || own.count != split.count || own.tensors != split.tensors)
      return invalid(
          "{}: by its keys this is part {} of {} ({} tensors in all), wanted part {} of {} ({}): it "
          "belongs to another model",
          part_path.string(), own.number + 1, own.count, own.tensors.value_or(0), i + 1, split.count,
          split.tensors.value_or(0));
    if (!whole) {
      whole = std::move(part);
    } else if (auto appended = whole->append(std::move(part)); !appended) {
      return invalid_param(appended.error().param, "{}: {}", part_path.string(), appended.error().message);
    }
  }
  if (split.tensors && whole->tensors().size() != *split.tensors)
    return invalid_param("split.tensors.count",
                         "{}: the {} parts have {} tensors, key split.tensors.count says {}", path.string(),
                         split.count, whole->tensors().size(), *split.tensors);
  return std::move(*whole);
}

}  // namespace reprise
