// Design: a table of the names that PCRE2 lacks or means otherwise. The name of a script is one of those: in
// Oniguruma it stands for the characters of the script, in PCRE2 also for those used with it. What is a
// script, PCRE2 is asked.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/tokenizer/oniguruma_sets.h"

#include <algorithm>

#include <pcre2.h>

namespace reprise {
namespace {

using std::string_view;
using enum CharSet::CaselessClass;

struct Named {
  string_view name;  // in small letters alone
  string_view items;
  CharSet::CaselessClass caseless = kSame;
};

// Case and being alphabetic with what has them since Unicode 15 or 16.
constexpr string_view kAlnum =
    R"(\p{Nd}\p{Alphabetic}\x{363}-\x{36F}\x{C04}\x{F82}\x{F83}\x{1DD3}-\x{1DE6}\x{11080}\x{11081})";
constexpr string_view kAlphabetic = kAlnum.substr(string_view(R"(\p{Nd})").size());
constexpr string_view kLowercase = R"(\p{Lowercase}\x{10FC}\x{A7F2}-\x{A7F4}\x{AB69})";

// Names of both kinds.
constexpr Named kCommon[] = {
    {"alnum", kAlnum},
    {"alpha", kAlphabetic},
    {"ascii", R"(\x00-\x7F)"},
    {"blank", R"(\p{Zs}\t)"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
    {"lower", kLowercase, kNone},
    {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
    {"space", kSpaceSet},
    {"upper", R"(\p{Uppercase})", kNone},
    {"word", kWordSet},
    {"xdigit", kHexSet},
};

constexpr Named kPosixPunct = {"punct", R"(\p{P}\p{S})"};

constexpr Named kProperties[] = {
    {"alphabetic", kAlphabetic},
    {"assigned", R"(\P{Cn})"},
    {"casedletter", R"(\p{Lu}\p{Ll}\p{Lt})", kIota},
    {"closepunctuation", R"(\p{Pe})"},
    {"combiningmark", R"(\p{M})", kIota},
    {"connectorpunctuation", R"(\p{Pc})"},
    {"control", R"(\p{Cc})"},
    {"currencysymbol", R"(\p{Sc})"},
    {"dashpunctuation", R"(\p{Pd})"},
    {"decimalnumber", R"(\p{Nd})"},
    {"enclosingmark", R"(\p{Me})"},
    {"finalpunctuation", R"(\p{Pf})"},
    {"format", R"(\p{Cf})"},
    {"initialpunctuation", R"(\p{Pi})"},
    {"l", R"(\p{L})", kIota},
    {"lc", R"(\p{Lu}\p{Ll}\p{Lt})", kIota},
    {"letter", R"(\p{L})", kIota},
    {"letternumber", R"(\p{Nl})"},
    {"lineseparator", R"(\p{Zl})"},
    {"ll", R"(\p{Ll})", kNone},
    {"lowercase", kLowercase, kNone},
    {"lowercaseletter", R"(\p{Ll})", kNone},
    {"lt", R"(\p{Lt})", kNone},
    {"lu", R"(\p{Lu})", kNone},
    {"m", R"(\p{M})", kIota},
    {"mark", R"(\p{M})", kIota},
    {"mathsymbol", R"(\p{Sm})"},
    {"mn", R"(\p{Mn})", kIota},
    {"modifierletter", R"(\p{Lm})"},
    {"modifiersymbol", R"(\p{Sk})"},
    {"nonspacingmark", R"(\p{Mn})", kIota},
    {"number", R"(\p{N})"},
    {"openpunctuation", R"(\p{Ps})"},
    {"other", R"(\p{C})"},
    {"otherletter", R"(\p{Lo})"},
    {"othernumber", R"(\p{No})"},
    {"otherpunctuation", R"(\p{Po})"},
    {"othersymbol", R"(\p{So})"},
    {"paragraphseparator", R"(\p{Zp})"},
    {"posixpunct", kPosixPunct.items},
    {"privateuse", R"(\p{Co})"},
    {"punct", R"(\p{P})"},
    {"punctuation", R"(\p{P})"},
    {"separator", R"(\p{Z})"},
    {"spaceseparator", R"(\p{Zs})"},
    {"spacingmark", R"(\p{Mc})"},
    {"surrogate", R"(\p{Cs})"},
    {"symbol", R"(\p{S})"},
    {"titlecaseletter", R"(\p{Lt})", kNone},
    {"unassigned", R"(\p{Cn})"},
    {"uppercase", R"(\p{Uppercase})", kNone},
    {"uppercaseletter", R"(\p{Lu})", kNone},
};

template <size_t kSize>
std::optional<CharSet> find(const Named (&sets)[kSize], string_view name) {
  const auto* const found = std::ranges::find(sets, name, &Named::name);
  if (found == std::end(sets)) return std::nullopt;
  return CharSet{std::string(found->items), found->caseless};
}

// Oniguruma compares names without case, spaces, hyphens and underscores.
std::string plain(string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != ' ' && c != '-' && c != '_') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return letters;
}

bool is_script(const std::string& name) {
  const std::string pattern = "\\p{sc:" + name + "}";
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                         PCRE2_UTF, &error, &offset, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

}  // namespace

CharSet property_set(string_view name) {
  const std::string letters = plain(name);
  if (const auto set = find(kCommon, letters)) return *set;
  if (const auto set = find(kProperties, letters)) return *set;
  return {"\\p{" + (is_script(letters) ? "sc:" + letters : letters) + "}"};
}

std::optional<CharSet> bracket_set(string_view name) {
  if (name == kPosixPunct.name) return CharSet{std::string(kPosixPunct.items)};
  return find(kCommon, name);
}

}  // namespace reprise
