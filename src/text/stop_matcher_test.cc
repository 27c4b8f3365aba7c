#include "text/stop_matcher.h"

#include <random>

#include <gtest/gtest.h>

namespace reprise {
namespace {

struct Outcome {
  std::string text;
  bool stopped = false;
  std::string stop;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << '"' << o.text << "\" " << (o.stopped ? "stop " + o.stop : "");
}

// The whole text at once, by the definition: earliest end, then earliest start.
Outcome by_definition(const std::vector<std::string>& stops, const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    const std::string* best = nullptr;
    for (const std::string& stop : stops) {
      if (stop.empty() || !std::string_view(text).substr(0, end).ends_with(stop)) continue;
      if (best == nullptr || stop.size() > best->size()) best = &stop;
    }
    if (best != nullptr) return {text.substr(0, end - best->size()), true, *best};
  }
  return {text, false, {}};
}

// Whether some stop string could still begin in the last bytes of `seen`.
size_t longest_beginning(const std::vector<std::string>& stops, std::string_view seen) {
  size_t longest = 0;
  for (const std::string& stop : stops) {
    for (size_t n = 1; n < stop.size(); ++n) {
      if (seen.ends_with(stop.substr(0, n))) longest = std::max(longest, n);
    }
  }
  return longest;
}

TEST(StopMatcher, FindsTheSameInEveryChunking) {
  std::mt19937 random(7);
  size_t stopped = 0;
  for (int round = 0; round < 30000; ++round) {
    const auto word = [&](size_t length) {
      std::string made;
      while (made.size() < length) made += static_cast<char>('a' + random() % 2);
      return made;
    };
    std::vector<std::string> stops;
    for (size_t n = random() % 4; n > 0; --n) stops.push_back(word(random() % 7));
    const std::string text = word(random() % 24);
    const Outcome expected = by_definition(stops, text);

    StopMatcher matcher(stops);
    Outcome outcome;
    std::string seen;
    for (size_t i = 0; i < text.size() && !outcome.stopped;) {
      const size_t length = random() % 5;
      const std::string piece = text.substr(i, length);
      i += length;
      seen += piece;
      const StopMatcher::Match match = matcher.push(piece);
      outcome.text += match.text;
      outcome.stopped = match.stopped;
      outcome.stop = match.stop;
      // Nothing is held back that need not be, and nothing given out that must be held.
      if (!match.stopped) {
        ASSERT_EQ(seen.size() - outcome.text.size(), longest_beginning(stops, seen));
      }
    }
    if (!outcome.stopped) outcome.text += matcher.finish();
    ASSERT_EQ(outcome, expected) << text << " " << testing::PrintToString(stops);
    stopped += outcome.stopped ? 1 : 0;
  }
  EXPECT_GT(stopped, 5000u);
}

TEST(StopMatcher, FindsAStopStringAcrossPieces) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.push("text <").text, "text ");
  EXPECT_EQ(matcher.push("/en").text, "");
  const auto match = matcher.push("d> more");
  EXPECT_TRUE(match.stopped);
  EXPECT_EQ(match.text, "");
  EXPECT_EQ(match.stop, "</end>");
}

TEST(StopMatcher, GivesOutWhatTurnsOutToBeNoStop) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.push("aa").text, "");
  EXPECT_EQ(matcher.push("a").text, "a");  // the last two may still begin it
  EXPECT_EQ(matcher.push("c").text, "aac");
  EXPECT_EQ(matcher.push("a").text, "");
  EXPECT_EQ(matcher.finish(), "a");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, TakesTheEarliestEndThenTheEarliestStart) {
  const auto inner_ends_first = StopMatcher({"abcd", "bc"}).push("xabcd");
  EXPECT_EQ(inner_ends_first.text, "xa");
  EXPECT_EQ(inner_ends_first.stop, "bc");
  const auto same_end = StopMatcher({"bc", "abc"}).push("xabc");
  EXPECT_EQ(same_end.text, "x");
  EXPECT_EQ(same_end.stop, "abc");
}

TEST(StopMatcher, WithoutStopStringsPassesEverything) {
  StopMatcher matcher({"", ""});
  EXPECT_EQ(matcher.push("anything").text, "anything");
  EXPECT_EQ(matcher.finish(), "");
}

// Would take minutes if held text were searched again for every byte.
TEST(StopMatcher, IsLinearInHostileStopStrings) {
  const std::string stop = std::string(50'000, 'a') + "b";
  StopMatcher matcher({stop, stop + "c"});
  std::string given;
  for (int i = 0; i < 100'000; ++i) given += matcher.push("a").text;
  EXPECT_EQ(given.size(), 50'000u);
  EXPECT_TRUE(matcher.push("b").stopped);
}

}  // namespace
}  // namespace reprise
