// Split files: any part opens the whole; a part that is missing, renamed or another model's is named.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "model/gguf.h"
#include "model/inspect.h"
#include "model/load.h"
#include "model/testing/tiny_llama.h"

namespace reprise {
namespace {

using testing::GgufWriter;
using ::testing::HasSubstr;
using testing::make_tiny_llama;

class SplitTest : public ::testing::Test {
 protected:
  SplitTest()
      : folder_(std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_split_{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~SplitTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path part(int number, int count = 3, const char* stem = "m") const {
    return folder_ / fmt::format("{}-{:05}-of-{:05}.gguf", stem, number, count);
  }
  void write(const std::vector<GgufWriter>& parts, const char* stem = "m") const {
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].write(part(static_cast<int>(i) + 1, static_cast<int>(parts.size()), stem));
  }
  static std::string error_of(const std::filesystem::path& path) {
    auto file = ModelFile::open(path);
    return file ? "no error" : file.error().message;
  }

  std::filesystem::path folder_;
};

TEST_F(SplitTest, AnyPartOpensTheWhole) {
  const GgufWriter tiny = make_tiny_llama();
  const auto bytes = tiny.bytes();
  const auto whole = parse_gguf(bytes);
  ASSERT_TRUE(whole);
  write(tiny.split(3));
  for (int i = 1; i <= 3; ++i) {
    const auto file = ModelFile::open(part(i));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->parts(), 3u);
    ASSERT_EQ(file->tensors().size(), whole->tensors().size());
    for (size_t t = 0; t < whole->tensors().size(); ++t) {
      const GgufTensor &a = file->tensors()[t], &b = whole->tensors()[t];
      EXPECT_EQ(a.name, b.name);
      ASSERT_EQ(a.bytes.size(), b.bytes.size());
      EXPECT_EQ(std::memcmp(a.bytes.data(), b.bytes.data(), b.bytes.size()), 0) << b.name;
      EXPECT_EQ(file->tensor(b.name), &a);
    }
    EXPECT_EQ(*file->require<std::string_view>("general.architecture"), "llama");
  }
  TaskPool pool(1, /*pin=*/false);
  auto model = load_model(part(2), pool, kernels::ref_table());
  EXPECT_TRUE(model) << model.error().message;
  const auto report = inspect_model_file(part(2), [](const Vocabulary&) { return Result<void>(); });
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, HasSubstr(" in 3 parts"));
}

TEST_F(SplitTest, AMissingPartIsNamed) {
  write(make_tiny_llama().split(3));
  std::filesystem::remove(part(2));
  EXPECT_THAT(error_of(part(1)), HasSubstr("part 2 of 3 is missing: " + part(2).string()));
  EXPECT_THAT(error_of(part(3)), HasSubstr("part 2 of 3 is missing: " + part(2).string()));
}

TEST_F(SplitTest, APartOfAnotherModelIsNamed) {
  write(make_tiny_llama().split(3));
  std::filesystem::copy_file(part(3), part(2), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(error_of(part(1)), HasSubstr(part(2).string() + ": by its keys this is part 3 of 3"));

  write(make_tiny_llama().split(3));
  make_tiny_llama({.layers = 1}).split(3)[1].write(part(2));
  EXPECT_THAT(error_of(part(1)),
              HasSubstr(part(2).string() + ": by its keys this is part 2 of 3 (11 tensors"));

  write(make_tiny_llama().split(3));
  make_tiny_llama().write(part(2));
  EXPECT_THAT(error_of(part(1)), HasSubstr(part(2).string() + ": by its keys this is part 1 of 1"));

  make_tiny_llama().split(3)[1].write(part(2));
  GgufWriter twice = make_tiny_llama().split(3)[2];
  twice.tensor("token_embd.weight", 0, {1}, std::vector<std::byte>(4)).write(part(3));
  EXPECT_THAT(error_of(part(1)),
              HasSubstr(part(3).string() + ": tensor token_embd.weight is in an earlier part too"));
}

TEST_F(SplitTest, NamesAndCountsThatDoNotFitAreRefused) {
  write(make_tiny_llama().split(3));
  std::filesystem::rename(part(1), folder_ / "renamed.gguf");
  EXPECT_THAT(
      error_of(folder_ / "renamed.gguf"),
      HasSubstr("this is part 1 of 3 of a split file, so its name should end in -00001-of-00003.gguf"));

  auto short_of_one = make_tiny_llama().split(2);
  short_of_one[1].tensor("one.more", 0, {1}, std::vector<std::byte>(4));
  write(short_of_one, "n");
  EXPECT_THAT(error_of(part(1, 2, "n")),
              HasSubstr("the 2 parts have 21 tensors, key split.tensors.count says 20"));

  const auto alone = [&](uint32_t number, uint32_t count) {
    GgufWriter().put("split.no", number).put("split.count", count).write(folder_ / "one.gguf");
    return error_of(folder_ / "one.gguf");
  };
  EXPECT_THAT(alone(3, 3), HasSubstr("key split.no is 3, but there are 3 parts"));
  EXPECT_THAT(alone(0, 1u << 31), HasSubstr("key split.count is 2147483648"));
  EXPECT_THAT(alone(0, 1), "no error");
  EXPECT_THAT(alone(0, 0), "no error");
}

}  // namespace
}  // namespace reprise
