#include "model/gguf.h"

#include <array>
#include <cstring>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "model/testing/gguf_writer.h"

namespace reprise {
namespace {

using testing::Bytes;
using testing::GgufWriter;
using ::testing::HasSubstr;

std::vector<std::byte> zeros(size_t n) { return std::vector<std::byte>(n); }

GgufWriter sample() {
  GgufWriter w;
  w.put("general.architecture", "llama").put("count", 7u).put("ratio", 0.5f).put("flag", true);
  w.put("names", std::vector<std::string>{"a", "", "ccc"}).put("numbers", std::vector<int32_t>{1, -2, 3});
  w.tensor("norm", 0, {3}, zeros(12));
  w.tensor("matrix", 2, {64, 5}, zeros(5 * 2 * 18));
  return w;
}

std::string error_of(const std::vector<std::byte>& bytes) {
  auto file = parse_gguf(bytes);
  return file ? "no error" : file.error().message;
}

TEST(Gguf, ReadsTypedMetadataAndTensorsOfBothVersions) {
  for (uint32_t version : {2u, 3u}) {
    const auto bytes = sample().bytes(version);
    const auto file = parse_gguf(bytes);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->container(), fmt::format("GGUF v{}", version));
    EXPECT_EQ(*file->require<std::string_view>("general.architecture"), "llama");
    EXPECT_EQ(*file->require<uint32_t>("count"), 7u);
    EXPECT_EQ(*file->require<int64_t>("count"), 7);
    EXPECT_EQ(*file->require<double>("ratio"), 0.5);
    EXPECT_EQ(*file->require<float>("count"), 7.0f);
    EXPECT_TRUE(*file->require<bool>("flag"));
    EXPECT_EQ(*file->get_or<uint32_t>("absent", 3), 3u);
    const GgufArray* names = *file->require<const GgufArray*>("names");
    EXPECT_THAT(names->strings, ::testing::ElementsAre("a", "", "ccc"));
    const GgufArray* numbers = *file->require<const GgufArray*>("numbers");
    EXPECT_EQ(numbers->count, 3u);
    EXPECT_EQ(numbers->raw.size(), 12u);
    ASSERT_EQ(file->tensors().size(), 2u);
    const GgufTensor* matrix = file->tensor("matrix");
    ASSERT_NE(matrix, nullptr);
    EXPECT_STREQ(matrix->type->name, "Q4_0");
    EXPECT_EQ(matrix->bytes.size(), 180u);
    EXPECT_EQ((matrix->bytes.data() - bytes.data()) % 32, 0);
    EXPECT_EQ(file->tensor("other"), nullptr);
  }
}

TEST(Gguf, MetadataErrorsNameTheKey) {
  const auto bytes = sample().bytes();
  const auto file = parse_gguf(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->require<uint32_t>("absent").error().message, "key absent is missing");
  EXPECT_EQ(file->require<uint32_t>("absent").error().param, "absent");
  EXPECT_EQ(file->require<uint32_t>("general.architecture").error().message,
            "key general.architecture is the string \"llama\", wanted an integer in range");
  EXPECT_EQ(file->require<bool>("count").error().message, "key count is the integer 7, wanted a bool");
  EXPECT_THAT(file->find<std::string_view>("numbers").error().message, HasSubstr("an array of 3 int32"));
}

TEST(Gguf, IntegersOutOfRangeAreRefused) {
  GgufWriter w;
  w.put("big", 300u);
  const auto bytes = w.bytes();
  const auto file = parse_gguf(bytes);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->require<uint8_t>("big"));
  EXPECT_TRUE(file->require<uint16_t>("big"));
}

TEST(Gguf, EveryTruncationIsRefused) {
  const auto whole = sample().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    ASSERT_FALSE(parse_gguf(cut)) << size << " of " << whole.size() << " bytes";
  }
}

TEST(Gguf, ForeignAndBigEndianFilesAreNamed) {
  EXPECT_THAT(error_of(zeros(64)), HasSubstr("not a GGUF file"));
  EXPECT_THAT(error_of(sample().bytes(4)), HasSubstr("GGUF version 4 (supported: 2 and 3)"));
  EXPECT_THAT(error_of(sample().bytes(1)), HasSubstr("GGUF version 1"));
  EXPECT_THAT(error_of(sample().bytes(0x03000000)), HasSubstr("big-endian"));
}

TEST(Gguf, DuplicateNamesAreRefused) {
  EXPECT_THAT(error_of(GgufWriter().put("k", 1u).put("k", 2u).bytes()), HasSubstr("key k occurs twice"));
  GgufWriter w;
  w.tensor("t", 0, {1}, zeros(4)).tensor("t", 0, {1}, zeros(4));
  EXPECT_THAT(error_of(w.bytes()), HasSubstr("tensor t occurs twice"));
}

// A file of one tensor entry, written by hand.
std::vector<std::byte> one_tensor(std::vector<uint64_t> sizes, uint32_t type, uint64_t offset, size_t data,
                                  std::optional<uint32_t> dimensions = {}) {
  Bytes b;
  b.number<uint32_t>(0x46554747).number<uint32_t>(3).number<uint64_t>(1).number<uint64_t>(0).string("t");
  b.number<uint32_t>(dimensions.value_or(static_cast<uint32_t>(sizes.size())));
  for (uint64_t size : sizes) b.number(size);
  b.number(type).number(offset).pad(32);
  b.raw(zeros(data));
  return b.data();
}

TEST(Gguf, TensorShapesAndOffsetsAreCheckedWithoutOverflow) {
  constexpr uint64_t kHuge = uint64_t{1} << 63;
  EXPECT_EQ(error_of(one_tensor({8}, 0, 0, 32)), "no error");
  EXPECT_EQ(error_of(one_tensor({8}, 0, 32, 64)), "no error");
  EXPECT_THAT(error_of(one_tensor({9}, 0, 0, 32)),
              HasSubstr("tensor t: 36 bytes at offset 0 reach past the end"));
  EXPECT_THAT(error_of(one_tensor({8}, 0, 64, 32)), HasSubstr("reach past the end"));
  EXPECT_THAT(error_of(one_tensor({8}, 0, uint64_t(0) - 32, 32)), HasSubstr("reach past the end"));
  EXPECT_THAT(error_of(one_tensor({8}, 0, 8, 64)),
              HasSubstr("offset 8 is not a multiple of the alignment 32"));
  EXPECT_THAT(error_of(one_tensor({kHuge, 4}, 0, 0, 32)), HasSubstr("more elements than 64 bits"));
  EXPECT_THAT(error_of(one_tensor({kHuge}, 0, 0, 32)), HasSubstr("more bytes than 64 bits"));
  EXPECT_THAT(error_of(one_tensor({8, 0}, 0, 0, 32)), HasSubstr("dimension 1 is 0"));
  EXPECT_THAT(error_of(one_tensor({}, 0, 0, 32)), HasSubstr("0 dimensions"));
  EXPECT_THAT(error_of(one_tensor({1, 1, 1, 1, 1}, 0, 0, 32)), HasSubstr("5 dimensions"));
  EXPECT_THAT(error_of(one_tensor({8}, 99, 0, 32)), HasSubstr("tensor t has the unknown type 99"));
  EXPECT_THAT(error_of(one_tensor({40}, 8, 0, 64)),
              HasSubstr("rows of 40 elements are not whole blocks of 32 (Q8_0)"));
}

// Tensors of 64, 128 and 32 bytes at the offsets given, in a section of 256.
std::vector<std::byte> placed(const std::array<uint64_t, 3>& offsets) {
  Bytes out;
  out.number<uint32_t>(0x46554747).number<uint32_t>(3).number<uint64_t>(3).number<uint64_t>(0);
  const uint64_t elements[] = {16, 32, 8};
  for (size_t i = 0; i < 3; ++i)
    out.string(fmt::format("t{}", i))
        .number<uint32_t>(1)
        .number(elements[i])
        .number<uint32_t>(0)
        .number(offsets[i]);
  out.pad(32);
  out.raw(zeros(256));
  return out.data();
}

TEST(Gguf, TensorsThatOverlapAreRefused) {
  EXPECT_EQ(error_of(placed({0, 64, 192})), "no error");
  EXPECT_EQ(error_of(placed({192, 32, 0})), "no error") << "in any order, with holes";
  EXPECT_THAT(error_of(placed({0, 32, 192})), HasSubstr("tensors t0 and t1 overlap"));
  EXPECT_THAT(error_of(placed({192, 0, 96})), HasSubstr("tensors t1 and t2 overlap")) << "one inside";
  EXPECT_THAT(error_of(placed({64, 128, 128})), HasSubstr("overlap")) << "of one beginning";
}

TEST(Gguf, AbsurdCountsAreRefusedBeforeMemoryIsAsked) {
  for (int field : {0, 1}) {
    Bytes b;
    b.number<uint32_t>(0x46554747).number<uint32_t>(3);
    for (int i : {0, 1}) b.number<uint64_t>(i == field ? uint64_t{1} << 60 : 0);
    b.raw(zeros(100));
    EXPECT_THAT(error_of(b.data()), HasSubstr("more than a file can hold"));
  }
  Bytes array;
  array.number<uint32_t>(0x46554747).number<uint32_t>(3).number<uint64_t>(0).number<uint64_t>(1).string("k");
  array.number<uint32_t>(9).number<uint32_t>(8).number<uint64_t>(uint64_t{1} << 61).raw(zeros(64));
  EXPECT_THAT(error_of(array.data()), HasSubstr("key k announces 2305843009213693952 elements"));
  Bytes text;
  text.number<uint32_t>(0x46554747).number<uint32_t>(3).number<uint64_t>(0).number<uint64_t>(1).string("k");
  text.number<uint32_t>(8).number<uint64_t>(~uint64_t{0}).raw(zeros(64));
  EXPECT_THAT(error_of(text.data()), HasSubstr("the file ends inside key k"));
}

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("reprise_sparse_{}.gguf", getpid());
  ~TemporaryFile() { std::filesystem::remove(path); }
};

// Resident memory of this process, KiB.
size_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
}

// A false count in a file of 256 GiB (sparse: it takes no disk) is found out before it has cost memory,
// whether it is above what any file has or just below.
TEST(Gguf, FalseCountsOfLargeFilesCostNoMemory) {
  const TemporaryFile file;
  struct Case {
    int field;  // 0 tensors, 1 keys, 2 elements of an array of strings
    uint64_t count;
    const char* told;
  };
  for (const Case& c : {Case{0, uint64_t{1} << 32, "more than a file can hold"},
                        {1, uint64_t{1} << 32, "more than a file can hold"},
                        {2, uint64_t{1} << 32, "more than a file can hold"},
                        {0, 1 << 20, "tensor"},
                        {1, 1 << 20, "metadata key 1 of 1048576 has a bad name"}}) {
    Bytes b;
    b.number<uint32_t>(0x46554747).number<uint32_t>(3);
    if (c.field < 2) {
      for (int i : {0, 1}) b.number<uint64_t>(i == c.field ? c.count : 0);
    } else {
      b.number<uint64_t>(0).number<uint64_t>(1).string("k").number<uint32_t>(9).number<uint32_t>(8);
      b.number<uint64_t>(c.count);
    }
    std::ofstream(file.path, std::ios::binary)
        .write(reinterpret_cast<const char*>(b.data().data()), static_cast<std::streamsize>(b.data().size()));
    std::error_code failed;
    std::filesystem::resize_file(file.path, uintmax_t{1} << 38, failed);
    if (failed) GTEST_SKIP() << "no sparse file of 256 GiB here: " << failed.message();
    const size_t before = resident();
    const auto opened = ModelFile::open(file.path);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr(c.told));
    EXPECT_LT(resident(), before + (32 << 10)) << c.field;
  }
}

TEST(Gguf, NestedArraysAndUnknownValueTypesAreRefused) {
  const auto with_value = [](std::initializer_list<uint32_t> types) {
    Bytes b;
    b.number<uint32_t>(0x46554747).number<uint32_t>(3).number<uint64_t>(0).number<uint64_t>(1).string("k");
    for (uint32_t type : types) b.number(type);
    b.raw(zeros(64));
    return b.data();
  };
  EXPECT_THAT(error_of(with_value({9, 9})), HasSubstr("key k is an array of arrays"));
  EXPECT_THAT(error_of(with_value({13})), HasSubstr("key k has the unknown value type 13"));
  EXPECT_THAT(error_of(with_value({9, 77})), HasSubstr("unknown value type 77"));
}

TEST(Gguf, AlignmentKeyIsHonouredAndChecked) {
  GgufWriter w;
  w.put("general.alignment", 128u).tensor("a", 0, {1}, zeros(4)).tensor("b", 0, {1}, zeros(4));
  const auto bytes = w.bytes(3, 128);
  const auto file = parse_gguf(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((file->tensor("b")->bytes.data() - bytes.data()) % 128, 0);
  EXPECT_EQ(file->tensor("b")->bytes.data() - file->tensor("a")->bytes.data(), 128);
  for (uint32_t bad : {0u, 4u, 48u, 1u << 21})
    EXPECT_THAT(error_of(GgufWriter().put("general.alignment", bad).bytes()), HasSubstr("general.alignment"))
        << bad;
}

TEST(Gguf, TextOfFilesCannotSteerTheTerminal) {
  EXPECT_EQ(printable("plain é 中"), "plain é 中");
  EXPECT_EQ(printable("a\x1b[31mb\n\x7f"), "a\\x1b[31mb\\n\\x7f");
  EXPECT_EQ(printable("\xff\xc2\x9b\xe4\xb8"), "\\xff\\xc2\\x9b\\xe4\\xb8");
  EXPECT_EQ(printable(std::string(500, 'x'), 10), "xxxxxxxxxx...");
}

}  // namespace
}  // namespace reprise
