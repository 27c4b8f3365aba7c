// Oniguruma's pattern syntax in PCRE2's terms.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise {

// A PCRE2 pattern (UTF, UCP, MULTILINE) that matches what `pattern` matches in Oniguruma with its Ruby
// syntax. Translated are: the names of sets (oniguruma_sets.h: \p{...}, [[:...:]], \s \w \b \h), \uHHHH,
// letters that a backslash does not change, intersections and nested sets in character classes, (?m), repeats
// of an interval (`{2}+`). All else is passed on as it is. kUnsupported: an unfinished class or group, a set
// that has no name here, a class that ignores case and holds letters by their case.
Result<std::string> pcre2_pattern(std::string_view pattern);

}  // namespace reprise
