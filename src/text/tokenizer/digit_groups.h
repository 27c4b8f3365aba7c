// Digits in groups of three, counted from the right. As patterns these look ahead to the end of the digits at
// each match: quadratic in a long number, which any client may send. Counted by hand they are linear.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace reprise {

class DigitGroups {
 public:
  // The grouping that cuts like `pattern`, if one does.
  static std::optional<DigitGroups> of(std::string_view pattern);

  // As Regex::Search::for_each. `text` is valid UTF-8.
  void for_each(std::string_view text,
                const std::function<void(size_t begin, size_t end, bool match)>& on) const;

 private:
  enum class Kind {
    kGroups,      // each group is a match
    kWholeWords,  // the same, of digits that no letter or the like follows
    kCuts,        // between the groups, and before the first if it is whole, are empty matches
  };
  explicit DigitGroups(Kind kind) : kind_(kind) {}
  Kind kind_;
};

}  // namespace reprise
