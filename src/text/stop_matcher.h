// Finds stop strings in a stream of text pieces, also where a stop string spans pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);  // empty ones are ignored

  struct Match {
    std::string text;      // safe to show: cannot be part of a stop string any more
    bool stopped = false;  // a stop string was completed; it and all after it are left out of `text`
    std::string stop;      // which
  };
  // The earliest-ending match wins; of several that end at one place, the one that starts first.
  Match push(std::string_view piece);
  std::string finish();  // what was held back, when the generation ends without a match

 private:
  struct Pattern {
    std::string text;
    std::vector<uint32_t> border;  // [i]: length of the longest proper border of text[0..i]
    size_t matched = 0;            // the longest prefix of `text` that the stream ends with
  };
  std::vector<Pattern> patterns_;
  std::string held_;  // the end of the stream that may begin a stop string: max of `matched` bytes
};

}  // namespace reprise
