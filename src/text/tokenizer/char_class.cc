// Design: a flat table of 1.1 MB. Texts stay within a few scripts, so its hot part is a few cache lines.
#include "text/tokenizer/char_class.h"

#include <memory>

#include <utf8proc.h>

#include "text/tokenizer/unicode_versions.h"

namespace reprise {
namespace {

CharClass category_class(uint32_t code_point) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kSpace;
    default:
      return is_unicode_punctuation(code_point) ? kPunctuation : 0;
  }
}

std::unique_ptr<const CharClassTable> make_table() {
  auto table = std::make_unique<CharClassTable>();
  for (uint32_t c = 0; c < 0x110000; ++c) {
    (*table)[c] = category_class(stand_in(c));
    if (((*table)[c] & kNumber) != 0 || is_newest_number(c)) (*table)[c] |= kDigit;
  }
  for (uint32_t c = 0x09; c <= 0x0D; ++c) (*table)[c] |= kSpace;
  (*table)[0x85] |= kSpace;
  (*table)['\r'] |= kNewline;
  (*table)['\n'] |= kNewline;
  return table;
}

}  // namespace

const CharClassTable& char_classes() {
  static const std::unique_ptr<const CharClassTable> table = make_table();
  return *table;
}

}  // namespace reprise
