// Classes and simple case mappings come from utf8proc. Mappings to several code points (Unicode's
// SpecialCasing) and the Greek final sigma are handled here, because Python's str.upper and str.lower apply
// them.
#include "text/jinja/unicode.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <utf8proc.h>

namespace reprise::jinja::unicode {
namespace {

bool continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool ascii(char32_t c) { return c < 0x80; }
utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

struct SpecialCase {
  char32_t from;
  std::u32string_view upper;
  std::u32string_view title;
};
constexpr std::array kSpecial = {
    SpecialCase{0x00DF, U"SS", U"Ss"},
    SpecialCase{0x0149, U"\u02BCN", U"\u02BCN"},
    SpecialCase{0x01F0, U"J\u030C", U"J\u030C"},
    SpecialCase{0x0390, U"\u0399\u0308\u0301", U"\u0399\u0308\u0301"},
    SpecialCase{0x03B0, U"\u03A5\u0308\u0301", U"\u03A5\u0308\u0301"},
    SpecialCase{0x0587, U"\u0535\u0552", U"\u0535\u0582"},
    SpecialCase{0x1E96, U"H\u0331", U"H\u0331"},
    SpecialCase{0x1E97, U"T\u0308", U"T\u0308"},
    SpecialCase{0x1E98, U"W\u030A", U"W\u030A"},
    SpecialCase{0x1E99, U"Y\u030A", U"Y\u030A"},
    SpecialCase{0x1E9A, U"A\u02BE", U"A\u02BE"},
    SpecialCase{0xFB00, U"FF", U"Ff"},
    SpecialCase{0xFB01, U"FI", U"Fi"},
    SpecialCase{0xFB02, U"FL", U"Fl"},
    SpecialCase{0xFB03, U"FFI", U"Ffi"},
    SpecialCase{0xFB04, U"FFL", U"Ffl"},
    SpecialCase{0xFB05, U"ST", U"St"},
    SpecialCase{0xFB06, U"ST", U"St"},
    SpecialCase{0xFB13, U"\u0544\u0546", U"\u0544\u0576"},
    SpecialCase{0xFB14, U"\u0544\u0535", U"\u0544\u0565"},
    SpecialCase{0xFB15, U"\u0544\u053B", U"\u0544\u056B"},
    SpecialCase{0xFB16, U"\u054E\u0546", U"\u054E\u0576"},
    SpecialCase{0xFB17, U"\u0544\u053D", U"\u0544\u056D"},
};

const SpecialCase* special(char32_t c) {
  if (c < 0xDF) return nullptr;
  const auto* found = std::ranges::find(kSpecial, c, &SpecialCase::from);
  return found == kSpecial.end() ? nullptr : found;
}

void append_all(std::string& out, std::u32string_view text) {
  for (const char32_t c : text) append(out, c);
}

void append_upper(std::string& out, char32_t c) {
  if (ascii(c)) {
    out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  } else if (const SpecialCase* s = special(c)) {
    append_all(out, s->upper);
  } else {
    append(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

void append_title(std::string& out, char32_t c) {
  if (const SpecialCase* s = special(c)) {
    append_all(out, s->title);
  } else {
    append(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
  }
}

bool case_ignorable(char32_t c) {
  if (c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x2019) return true;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

// A capital sigma ends a word when a cased letter stands before it and none after it.
bool final_sigma(std::string_view s, size_t at) {
  size_t i = at;
  bool before = false;
  while (i > 0) {
    do {
      --i;
    } while (i > 0 && continuation(s[i]));
    const char32_t c = decode(s, i);
    if (case_ignorable(c)) continue;
    before = is_cased(c);
    break;
  }
  if (!before) return false;
  for (i = next(s, at); i < s.size(); i = next(s, i)) {
    const char32_t c = decode(s, i);
    if (!case_ignorable(c)) return !is_cased(c);
  }
  return true;
}

void append_lower(std::string& out, std::string_view s, size_t i, char32_t c) {
  if (ascii(c)) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  } else if (c == 0x0130) {
    append_all(out, U"i\u0307");
  } else if (c == 0x03A3) {
    append(out, final_sigma(s, i) ? char32_t{0x03C2} : char32_t{0x03C3});
  } else {
    append(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace

size_t length(std::string_view s) {
  size_t n = 0;
  for (const char c : s) n += !continuation(c);
  // Continuation bytes before any lead byte form one (malformed) code point.
  return n + (!s.empty() && continuation(s[0]));
}

size_t next(std::string_view s, size_t i) {
  ++i;
  while (i < s.size() && continuation(s[i])) ++i;
  return i;
}

size_t offset(std::string_view s, size_t index) {
  size_t i = 0;
  while (index > 0 && i < s.size()) {
    i = next(s, i);
    --index;
  }
  return i;
}

char32_t decode(std::string_view s, size_t i) {
  const auto lead = static_cast<unsigned char>(s[i]);
  if (lead < 0x80) return lead;
  utf8proc_int32_t c = 0;
  const size_t left = s.size() - i;
  const auto got = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data() + i),
                                    static_cast<utf8proc_ssize_t>(left), &c);
  return got < 0 ? char32_t{0xFFFD} : static_cast<char32_t>(c);
}

void append(std::string& out, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(n));
}

bool valid(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    if (static_cast<unsigned char>(s[i]) < 0x80) {
      ++i;
      continue;
    }
    utf8proc_int32_t c = 0;
    const auto got = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data() + i),
                                      static_cast<utf8proc_ssize_t>(s.size() - i), &c);
    if (got <= 0) return false;
    i += static_cast<size_t>(got);
  }
  return true;
}

bool is_space(char32_t c) {
  if (ascii(c)) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_alpha(char32_t c) {
  if (ascii(c)) return (c | 32) >= 'a' && (c | 32) <= 'z';
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return true;
    default:
      return false;
  }
}
bool is_decimal(char32_t c) { return ascii(c) ? c >= '0' && c <= '9' : category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(char32_t c) {
  return is_decimal(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468);
}
bool is_numeric(char32_t c) {
  if (ascii(c)) return is_decimal(c);
  const auto k = category(c);
  return k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}
bool is_word(char32_t c) { return c == '_' || is_alpha(c) || is_numeric(c); }
bool is_printable(char32_t c) {
  if (ascii(c)) return c >= 0x20 && c < 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}
bool is_upper(char32_t c) {
  return ascii(c) ? c >= 'A' && c <= 'Z'
                  : category(c) == UTF8PROC_CATEGORY_LU || (c >= 0x2160 && c <= 0x216F) ||
                        (c >= 0x24B6 && c <= 0x24CF);
}
bool is_lower(char32_t c) {
  return ascii(c) ? c >= 'a' && c <= 'z'
                  : category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA ||
                        (c >= 0x2170 && c <= 0x217F) || (c >= 0x24D0 && c <= 0x24E9);
}
bool is_title(char32_t c) { return !ascii(c) && category(c) == UTF8PROC_CATEGORY_LT; }
bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

std::string upper(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); i = next(s, i)) append_upper(out, decode(s, i));
  return out;
}

std::string lower(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); i = next(s, i)) append_lower(out, s, i, decode(s, i));
  return out;
}

std::string capitalize(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); i = next(s, i)) {
    if (i == 0) {
      append_title(out, decode(s, i));
    } else {
      append_lower(out, s, i, decode(s, i));
    }
  }
  return out;
}

std::string title(std::string_view s) {
  std::string out;
  bool after_cased = false;
  for (size_t i = 0; i < s.size(); i = next(s, i)) {
    const char32_t c = decode(s, i);
    if (after_cased) {
      append_lower(out, s, i, c);
    } else {
      append_title(out, c);
    }
    after_cased = is_cased(c);
  }
  return out;
}

std::string swapcase(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); i = next(s, i)) {
    const char32_t c = decode(s, i);
    if (is_upper(c)) {
      append_lower(out, s, i, c);
    } else if (is_lower(c)) {
      append_upper(out, c);
    } else {
      append(out, c);
    }
  }
  return out;
}

std::string casefold(std::string_view s) {
  utf8proc_uint8_t* folded = nullptr;
  const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(s.data()),
                              static_cast<utf8proc_ssize_t>(s.size()), &folded, UTF8PROC_CASEFOLD);
  if (n < 0) return lower(s);
  std::string out(reinterpret_cast<const char*>(folded), static_cast<size_t>(n));
  std::free(folded);
  return out;
}

std::string_view strip_left(std::string_view s) {
  size_t i = 0;
  while (i < s.size() && is_space(decode(s, i))) i = next(s, i);
  return s.substr(i);
}

std::string_view strip_right(std::string_view s) {
  while (!s.empty()) {
    size_t i = s.size() - 1;
    while (i > 0 && continuation(s[i])) --i;
    if (!is_space(decode(s, i))) break;
    s = s.substr(0, i);
  }
  return s;
}

}  // namespace reprise::jinja::unicode
