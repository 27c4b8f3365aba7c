#include "text/jinja/word_wrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise::jinja {
namespace {

using testing::ElementsAre;

// As Python's textwrap.wrap gives them.
TEST(WordWrap, ALongWordFillsWhatTheLineHasLeft) {
  EXPECT_THAT(wrap_line("abcd   e-fghijk", 5, true, true), ElementsAre("abcd", "e-", "fghij", "k"));
  EXPECT_THAT(wrap_line("abcd efghijk", 4, true, true), ElementsAre("abcd", "efgh", "ijk"));
}
TEST(WordWrap, SpaceThatFillsALineBeforeALongWordStays) {
  EXPECT_THAT(wrap_line("ab  abcdefghijkl", 4, true, true), ElementsAre("ab  ", "abcd", "efgh", "ijkl"));
  EXPECT_THAT(wrap_line("aaa aaaabbbb", 4, true, true), ElementsAre("aaa ", "aaaa", "bbbb"));
}
TEST(WordWrap, SpacesOfUnicodeAreWordsThatVanishAtBorders) {
  EXPECT_THAT(wrap_line("aa \u2003 bb", 3, true, true), ElementsAre("aa", " bb"));
}

}  // namespace
}  // namespace reprise::jinja
