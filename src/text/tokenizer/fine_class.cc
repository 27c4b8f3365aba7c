// Design: categories are utf8proc's; scripts, which it does not know, are asked of PCRE2.
#include "text/tokenizer/fine_class.h"

#include <memory>

#include <utf8proc.h>

#include "text/tokenizer/deepseek_classes.h"
#include "text/tokenizer/regex.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise {
namespace {

FineClass category_class(uint32_t code_point) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return kUpper;
    case UTF8PROC_CATEGORY_LL:
      return kLower;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return kSymbol;
    default:
      return 0;
  }
}

void mark_han(FineClassTable& table) {
  std::string all;
  for (uint32_t c = 0x80; c < 0x110000; ++c)
    if (c < 0xD800 || c > 0xDFFF) append_utf8(all, c);
  const Regex han = Regex::compile(R"(\p{Han}+)").value();
  Regex::Search(han).for_each(all, [&](size_t begin, size_t end, bool match) {
    for (const char* p = all.data() + begin; match && p < all.data() + end;) {
      const Utf8Step step = utf8_step(p, all.data() + end);
      table[step.code_point] |= kHan;
      p += step.length;
    }
  });
}

std::unique_ptr<const FineClassTable> make_table() {
  auto table = std::make_unique<FineClassTable>();
  const CharClassTable& classes = char_classes();
  for (uint32_t c = 0; c < 0x110000; ++c)
    (*table)[c] = static_cast<FineClass>(classes[c] | category_class(stand_in(c)));
  const auto mark = [&table](std::span<const CodePointRange> ranges, FineClass flag) {
    for (const CodePointRange& range : ranges) {
      for (uint32_t c = range.first; c <= range.last; ++c) (*table)[c] |= flag;
    }
  };
  constexpr CodePointRange kKana[] = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}};
  mark(kKana, kDeepseekKana);
  mark(kDeepseekWordRanges, kDeepseekWord);
  mark(kDeepseekMarkRanges, kDeepseekMark);
  mark(kDeepseekIdeoRanges, kDeepseekIdeo);
  mark_han(*table);
  return table;
}

}  // namespace

const FineClassTable& fine_classes() {
  static const std::unique_ptr<const FineClassTable> table = make_table();
  return *table;
}

}  // namespace reprise
