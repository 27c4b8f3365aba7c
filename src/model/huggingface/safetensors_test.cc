// The safetensors reader: what it takes, and that every lie of a header is one clear line.
#include "model/huggingface/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/testing/safetensors_writer.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::safetensors;
using testing::SafeTensorToWrite;

std::string error_of(const std::vector<std::byte>& file) {
  auto parsed = parse_safetensors(file);
  return parsed ? "no error" : parsed.error().message;
}
std::string error_of(std::string_view header, size_t data_bytes) {
  return error_of(safetensors(header, data_bytes));
}

TEST(Safetensors, GivesNamesTypesShapesAndBytesInFileOrder) {
  const std::vector<SafeTensorToWrite> tensors = {
      {"b", "F32", {2, 3}, std::vector<std::byte>(24, std::byte{1})},
      {"a", "BF16", {}, std::vector<std::byte>(2, std::byte{2})},
      {"empty", "I64", {0, 5}, {}},
      {"nibbles", "F4", {4}, std::vector<std::byte>(2, std::byte{3})},
  };
  const auto file = safetensors(tensors);
  const auto parsed = parse_safetensors(file);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->tensors.size(), 4u);
  EXPECT_EQ(parsed->tensors[0].name, "b");
  EXPECT_EQ(parsed->tensors[0].type, "F32");
  EXPECT_THAT(parsed->tensors[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(parsed->tensors[0].bytes.size(), 24u);
  EXPECT_EQ(parsed->tensors[1].name, "a");
  EXPECT_THAT(parsed->tensors[1].shape, ElementsAre());
  EXPECT_EQ(parsed->tensors[1].bytes[1], std::byte{2});
  EXPECT_EQ(parsed->header.size() + 28, file.size());
  EXPECT_EQ(error_of(R"({"__metadata__":{"format":"pt"}})", 0), "no error");
}

TEST(Safetensors, LengthsAndJsonAreChecked) {
  EXPECT_THAT(error_of(std::vector<std::byte>(7)), HasSubstr("too short"));
  EXPECT_THAT(error_of(std::vector<std::byte>(16, std::byte{0xff})),
              HasSubstr("the header claims 18446744073709551615"));
  auto truncated = safetensors("{}", 0);
  truncated.pop_back();
  EXPECT_THAT(error_of(truncated), HasSubstr("the header claims 2 bytes of a file of 9"));
  EXPECT_THAT(error_of("[]", 0), HasSubstr("no object"));
  EXPECT_THAT(error_of("{", 0), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(R"({"t":3})", 0), HasSubstr("tensor t: its entry in the header is no object"));
  EXPECT_THAT(error_of(R"({"t":{"dtype":"F32","shape":[1]}})", 4),
              HasSubstr("wanted dtype, shape and data_offsets"));
  EXPECT_THAT(error_of(R"({"t":{"dtype":"F9","shape":[],"data_offsets":[0,4]}})", 4),
              HasSubstr("the unknown type F9"));
}

TEST(Safetensors, ShapesAndOffsetsMustAgreeWithoutOverflow) {
  const auto with = [](const char* shape, const char* offsets, size_t data) {
    return error_of(fmt::format(R"({{"t":{{"dtype":"F32","shape":{},"data_offsets":{}}}}})", shape, offsets),
                    data);
  };
  EXPECT_EQ(with("[2]", "[0,8]", 8), "no error");
  EXPECT_THAT(with("[2]", "[0,8]", 7), HasSubstr("do not lie in the 7 bytes of data"));
  EXPECT_THAT(with("[2]", "[8,0]", 8), HasSubstr("bytes 8 to 0 do not lie"));
  EXPECT_THAT(with("[2]", "[0,18446744073709551615]", 8), HasSubstr("do not lie"));
  EXPECT_THAT(with("[3]", "[0,8]", 8), HasSubstr("8 bytes do not hold its shape, which takes 12"));
  // Products that come out small modulo 2^64.
  EXPECT_THAT(with("[4294967296,4294967296]", "[0,0]", 0), HasSubstr("more bits than 64 bits can count"));
  EXPECT_THAT(with("[576460752303423488]", "[0,0]", 0), HasSubstr("more bits than 64 bits can count"));
  EXPECT_THAT(with("[-1]", "[0,8]", 8), HasSubstr("no whole number"));
  EXPECT_THAT(with("[2.0]", "[0,8]", 8), HasSubstr("no whole number"));
  EXPECT_THAT(with("[2]", "[0]", 8), HasSubstr("data_offsets are not two whole numbers"));
  EXPECT_THAT(with("[1,1,1,1,1,1,1,1,2]", "[0,8]", 8), HasSubstr("too many dimensions"));
  EXPECT_THAT(error_of(R"({"t":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", 1),
              HasSubstr("do not hold its shape"));
}

TEST(Safetensors, HolesAndOverlapsAreRefused) {
  const auto two = [](const char* second, size_t data) {
    return error_of(fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":[0,4]}},
                                    "b":{{"dtype":"U8","shape":[4],"data_offsets":{}}}}})",
                                second),
                    data);
  };
  EXPECT_EQ(two("[4,8]", 8), "no error");
  EXPECT_THAT(two("[3,7]", 7), HasSubstr("tensor b begins at byte 3 of the data, the one before ends at 4"));
  EXPECT_THAT(two("[5,9]", 9), HasSubstr("tensor b begins at byte 5"));
  EXPECT_THAT(two("[4,8]", 9), HasSubstr("the data has 9 bytes, but its tensors end at 8"));
}

}  // namespace
}  // namespace reprise
