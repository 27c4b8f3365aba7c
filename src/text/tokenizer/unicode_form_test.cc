#include "text/tokenizer/unicode_form.h"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>
#include <utf8proc.h>

#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise::normalize {
namespace {

constexpr Form kForms[] = {Form::kNfc, Form::kNfd, Form::kNfkc, Form::kNfkd};

std::string by_utf8proc(const std::string& text, Form form) {
  const bool compose = form == Form::kNfc || form == Form::kNfkc;
  const bool compatible = form == Form::kNfkc || form == Form::kNfkd;
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
      &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                     (compatible ? UTF8PROC_COMPAT : 0)));
  std::string made(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
  std::free(mapped);
  return made;
}

TEST(UnicodeForm, IsUtf8procsOwn) {
  // Bases and marks of every kind that meet: Latin, Hangul letters, Indic vowels, ligatures, wide forms.
  constexpr std::pair<uint32_t, uint32_t> kBlocks[] = {
      {0x20, 0x7E},     {0xA0, 0x17F},    {0x300, 0x36F},    {0x370, 0x3FF},     {0x591, 0x5F4},
      {0x610, 0x6ED},   {0x900, 0x9E3},   {0xBBE, 0xBD7},    {0x1100, 0x11FF},   {0x1E00, 0x1FFE},
      {0x2000, 0x2189}, {0x3040, 0x30FF}, {0x3200, 0x33FF},  {0xAC00, 0xAC40},   {0xF900, 0xFA2D},
      {0xFB00, 0xFB4F}, {0xFF01, 0xFFEE}, {0x110, 0x10FFFF}, {0x1D15E, 0x1D1C0}, {0x2F800, 0x2FA1D}};
  std::mt19937 random(1);
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    for (size_t n = 1 + random() % 12; n > 0; --n) {
      const auto [first, last] = kBlocks[random() % 3 == 0 ? 2 : random() % std::size(kBlocks)];
      const uint32_t c = first + random() % (last - first + 1);
      if ((c >= 0xD800 && c < 0xE000) || is_inert(c)) continue;
      append_utf8(text, c);
    }
    for (const Form form : kForms)
      ASSERT_EQ(in_form(text, form), by_utf8proc(text, form)) << testing::PrintToString(text);
  }
}

TEST(UnicodeForm, NothingIsOrderedAcrossWhatIsInert) {
  ASSERT_TRUE(is_inert(0x1DF6));
  EXPECT_EQ(in_form("a\u0301\u1DF6\u0316\u0301", Form::kNfc), "á\u1DF6\u0316\u0301");
}

TEST(UnicodeForm, TakesLongRunsOfMarks) {
  std::string marks = "a";
  while (marks.size() < 1 << 20) marks += "\u0301\u0316\u05B0\u0345";
  for (const Form form : kForms) {
    const std::string made = in_form(marks, form);
    EXPECT_EQ(made.size(), marks.size() - (form == Form::kNfc || form == Form::kNfkc ? 1 : 0));
    EXPECT_EQ(made, in_form(made, form));
  }
}

}  // namespace
}  // namespace reprise::normalize
