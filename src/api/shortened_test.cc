#include "api/shortened.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(Shortened, KeepsWholeCharacters) {
  EXPECT_EQ(shortened("abc", 5), "abc");
  EXPECT_EQ(shortened("abc", 2), "ab");
  EXPECT_EQ(shortened("", 2), "");
  EXPECT_EQ(shortened("\u00e9\u20ac\U0001F600x", 3), "\u00e9\u20ac\U0001F600");
  EXPECT_EQ(shortened("\u00e9\u20ac\U0001F600x", 2), "\u00e9\u20ac");
  EXPECT_EQ(shortened("a\xff\xe2\x82z", 4), "a\uFFFD\uFFFDz");
  EXPECT_EQ(shortened("a\xff\xe2\x82z", 3), "a\uFFFD\uFFFD");
}

}  // namespace
}  // namespace reprise
