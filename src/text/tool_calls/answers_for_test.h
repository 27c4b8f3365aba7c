// What tests of answers share: a family's parser fed with text, what came of it, and the ways to cut it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "text/tool_calls/families.h"

namespace reprise::calls {

// "R[reasoning]", "C[content]", "f#id{...}" in order, what belongs together joined.
inline std::string shown(const std::vector<AnswerDelta>& deltas) {
  std::string text;
  std::optional<AnswerDelta::Kind> last;
  const auto close = [&] {
    if (last == AnswerDelta::Kind::kReasoning || last == AnswerDelta::Kind::kContent) text += ']';
  };
  for (const AnswerDelta& delta : deltas) {
    if (delta.kind != last) {
      close();
      if (delta.kind == AnswerDelta::Kind::kReasoning) text += "R[";
      if (delta.kind == AnswerDelta::Kind::kContent) text += "C[";
    }
    last = delta.kind;
    text += delta.text;
    if (delta.kind == AnswerDelta::Kind::kCallBegin && !delta.id.empty()) text += "#" + delta.id;
  }
  close();
  return text;
}

// Of a call that is written so far, its arguments must be the beginning of an object.
inline void check_arguments(const std::vector<AnswerDelta>& deltas) {
  std::string open;
  bool in_call = false;
  for (const AnswerDelta& delta : deltas) {
    switch (delta.kind) {
      case AnswerDelta::Kind::kCallBegin:
        ASSERT_FALSE(in_call);
        ASSERT_FALSE(delta.text.empty());
        in_call = true;
        open.clear();
        break;
      case AnswerDelta::Kind::kCallArguments:
        ASSERT_TRUE(in_call);
        open += delta.text;
        break;
      case AnswerDelta::Kind::kCallEnd: {
        ASSERT_TRUE(in_call);
        in_call = false;
        boost::system::error_code error;
        boost::json::parse_options options;
        options.max_depth = 1000;
        const boost::json::value value = boost::json::parse(open, error, {}, options);
        ASSERT_FALSE(error) << open;
        ASSERT_TRUE(value.is_object()) << open;
        break;
      }
      default:
        ASSERT_FALSE(in_call);
    }
  }
  ASSERT_FALSE(in_call);
}

class Answer {
 public:
  Answer(const Family& family, const std::vector<std::string>& markers, bool reasoning, const Tools& offered)
      : state_(std::make_unique<State>(family, markers, reasoning, offered)) {
    state_->parse.start();
  }
  void push(std::string_view text) {
    state_->scanner.push(text);
    take();
  }
  std::string finish() {
    state_->scanner.end();
    take();
    EXPECT_TRUE(state_->parse.done());
    check_arguments(state_->all);
    return shown(state_->all);
  }
  const std::vector<AnswerDelta>& deltas() const { return state_->all; }

 private:
  struct State {
    State(const Family& family, const std::vector<std::string>& spelled, bool reasoning, const Tools& offered)
        : sink(offered), markers(spelled), parse(parse_answer(family, scanner, sink, markers, reasoning)) {}
    Scanner scanner;
    AnswerSink sink;
    Markers markers;
    Parse parse;
    std::vector<AnswerDelta> all;
  };
  void take() {
    for (AnswerDelta& delta : state_->sink.take()) {
      EXPECT_FALSE(delta.text.contains(kMark));
      state_->all.push_back(std::move(delta));
    }
  }
  std::unique_ptr<State> state_;
};

// Characters, a mark being one with what follows it.
inline std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

// The markers that the families' own vocabularies have as tokens.
inline bool is_token(std::string_view family, std::string_view marker) {
  if (family == "qwen_xml") return marker.contains("think") || marker.contains("tool_call");
  if (family == "minimax_m2") return marker.contains("think") || marker.contains("minimax:tool_call");
  if (family == "seed_oss") return marker.contains("seed:");
  if (family == "deepseek_dsml" || family == "gemma")
    return false;  // tested apart: they are part of their markers
  return true;
}

inline std::string marked(const Family& family, std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t longest = 0;
    for (std::string_view marker : family.markers)
      if (is_token(family.name, marker) && text.substr(at).starts_with(marker))
        longest = std::max(longest, marker.size());
    if (longest > 0) out += kMark;
    out += text.substr(at, std::max<size_t>(longest, 1));
    at += std::max<size_t>(longest, 1);
  }
  return out;
}

// Character by character, in two at every character, and in `rounds` random ways.
template <typename MakeAnswer>
void expect_same_however_cut(const std::string& text, std::string_view expected, int rounds,
                             MakeAnswer parse) {
  const std::vector<std::string> pieces = characters(text);
  Answer single = parse();
  for (const std::string& piece : pieces) single.push(piece);
  ASSERT_EQ(single.finish(), expected) << "character by character";
  size_t at = 0;
  for (const std::string& piece : pieces) {
    Answer halves = parse();
    halves.push(std::string_view(text).substr(0, at));
    halves.push(std::string_view(text).substr(at));
    ASSERT_EQ(halves.finish(), expected) << "cut before byte " << at;
    at += piece.size();
  }
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    const uint32_t length = 2 + random() % 12;  // of a piece, on average
    Answer cut = parse();
    std::string piece;
    for (const std::string& character : pieces) {
      piece += character;
      if (random() % length > 0) continue;
      cut.push(piece);
      piece.clear();
    }
    cut.push(piece);
    ASSERT_EQ(cut.finish(), expected) << "round " << round;
  }
}

}  // namespace reprise::calls
