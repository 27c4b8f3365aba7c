// Design: one Knuth-Morris-Pratt automaton per stop string, all advanced byte by byte: linear in the text,
// whatever the stop strings are (they come from clients). Invariant between calls: held_ is the end of the
// stream that is the longest proper prefix of any stop string; all before it has been given out. A completed
// stop string therefore lies wholly in held_ + piece.
#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace reprise {

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  for (std::string& stop : stops) {
    if (stop.empty()) continue;
    Pattern pattern{std::move(stop), {}, 0};
    const std::string& text = pattern.text;
    pattern.border.resize(text.size());
    uint32_t length = 0;
    for (size_t i = 1; i < text.size(); ++i) {
      while (length > 0 && text[i] != text[length]) length = pattern.border[length - 1];
      if (text[i] == text[length]) ++length;
      pattern.border[i] = length;
    }
    patterns_.push_back(std::move(pattern));
  }
}

StopMatcher::Match StopMatcher::push(std::string_view piece) {
  const size_t before = held_.size();
  held_ += piece;
  for (size_t i = before; i < held_.size(); ++i) {
    const char byte = held_[i];
    const Pattern* complete = nullptr;  // of those that end here, the longest
    for (Pattern& pattern : patterns_) {
      size_t n = pattern.matched;
      while (n > 0 && pattern.text[n] != byte) n = pattern.border[n - 1];
      if (pattern.text[n] == byte) ++n;
      pattern.matched = n;
      if (n < pattern.text.size()) continue;
      if (complete == nullptr || n > complete->text.size()) complete = &pattern;
    }
    if (complete != nullptr) {
      Match match{held_.substr(0, i + 1 - complete->text.size()), true, complete->text};
      held_.clear();
      for (Pattern& pattern : patterns_) pattern.matched = 0;
      return match;
    }
  }
  size_t keep = 0;
  for (const Pattern& pattern : patterns_) keep = std::max(keep, pattern.matched);
  Match match{held_.substr(0, held_.size() - keep), false, {}};
  held_.erase(0, held_.size() - keep);
  return match;
}

std::string StopMatcher::finish() {
  for (Pattern& pattern : patterns_) pattern.matched = 0;
  return std::exchange(held_, {});
}

}  // namespace reprise
