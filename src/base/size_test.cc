#include "base/size.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(Size, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("1500"), 1500u);
  EXPECT_EQ(parse_size("60M"), 60u << 20);
  EXPECT_EQ(parse_size("60MB"), 60u << 20);
  EXPECT_EQ(parse_size("1.5GiB"), 3u << 29);
  EXPECT_EQ(parse_size("2k"), 2048u);
  EXPECT_EQ(parse_size("1T"), size_t{1} << 40);
}

TEST(Size, RefusesTheRest) {
  for (const char* text : {"", "M", "-1", "5X", "5MM", "5M B", "1e400", "nan", "inf", "99999999999T", " 5"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(Size, Prints) {
  EXPECT_EQ(format_size(512), "512 B");
  EXPECT_EQ(format_size(60u << 20), "60.0 MiB");
}

}  // namespace
}  // namespace reprise
