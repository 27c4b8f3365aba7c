// How a family of models writes reasoning and calls. One object a family, for the life of the process; one
// file each.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tool_calls/answer_sink.h"
#include "text/tool_calls/parse.h"
#include "text/tool_calls/scanner.h"

namespace reprise::calls {

// A family's markers as one vocabulary spells them: marked where it has tokens for them.
class Markers {
 public:
  Markers() = default;
  explicit Markers(std::vector<std::string> spelled) : spelled_(std::move(spelled)) {}
  std::string_view operator[](size_t index) const { return spelled_[index]; }
  size_t size() const { return spelled_.size(); }

 private:
  std::vector<std::string> spelled_;
};

// Removes marks, and white space around it: of names.
void trim(std::string& text);

// Either `calls` is set, for answers that are reasoning between the first two markers, content, and calls
// behind openers, or `parse`, for those that are something else.
struct Family {
  std::string_view name;  // for --tool-parser and messages
  std::array<std::string_view, 2>
      signs;  // a chat template that has these shows calls so; empty ones count as had
  std::span<const std::string_view> markers;  // texts that are found by their index in Markers

  // The next markers after reasoning's.
  size_t openers = 0;
  // An opener in the midst of reasoning ends it. Else it does only where the answer ends before the reasoning
  // does, or with nothing after it: what a model writes while it thinks may be a draft.
  bool opener_ends_reasoning = false;
  // Reads on behind an opener, over as many calls as follow each other.
  Parse (*calls)(Scanner& in, AnswerSink& out, const Markers& markers, size_t opener) = nullptr;

  // Reads the whole answer.
  Parse (*parse)(Scanner& in, AnswerSink& out, const Markers& markers) = nullptr;
  bool always = false;  // its markers count also where no tools are offered

  static constexpr size_t kReasoning = 0, kReasoningEnd = 1, kOpeners = 2;
  // Between which reasoning stands; empty: there are no such texts.
  std::string_view reasoning_begin() const { return calls ? markers[kReasoning] : std::string_view(); }
  std::string_view reasoning_end() const { return calls ? markers[kReasoningEnd] : std::string_view(); }
  // So many of the first markers count also where no tools are offered.
  size_t markers_without_tools() const { return calls ? kOpeners : always ? markers.size() : 0; }
};

// Reads an answer to its end. `reasoning`: the prompt ended inside of it.
Parse parse_answer(const Family& family, Scanner& in, AnswerSink& out, const Markers& markers,
                   bool reasoning);

// All of them, the more special first: the first that matches is a model's.
std::span<const Family* const> families();
const Family* family_named(std::string_view name);        // null: there is none
const Family* family_of(std::string_view chat_template);  // likewise

}  // namespace reprise::calls
