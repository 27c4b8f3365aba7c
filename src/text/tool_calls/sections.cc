// An answer of sections: reasoning, content and calls.
#include "text/tool_calls/family.h"

namespace reprise::calls {
namespace {

Parse parse_sections(const Family& family, Scanner& in, AnswerSink& out, const Markers& markers,
                     bool reasoning) {
  std::vector<std::string_view> stops;
  const size_t last = Family::kOpeners + (out.tools().empty() ? 0 : family.openers);
  for (size_t i = 0; i < last; ++i) stops.push_back(markers[i]);
  const std::span<const std::string_view> end(&stops[Family::kReasoningEnd], 1);
  std::string draft;  // from the first opener in reasoning that ended properly
  for (;;) {
    Receiver& text = reasoning ? static_cast<Receiver&>(out.reasoning) : out.content;
    const size_t found = co_await in.until(stops, text);
    if (found == Scanner::kEnd) {
      if (draft.empty() || out.calls() > 0 || out.content.any()) break;
      in.unread(std::exchange(draft, {}));  // the answer is nothing else
      reasoning = false;
      continue;
    }
    if (found == Family::kReasoning || found == Family::kReasoningEnd) {
      reasoning = found == Family::kReasoning;
      out.turn();
      continue;
    }
    if (reasoning && !family.opener_ends_reasoning) {
      Collected held;
      held.put(stops[found]);
      const size_t ended = co_await in.until(end, held);
      if (ended == Scanner::kEnd) {
        in.unread(held.text);
      } else {
        out.reasoning.put(held.text);
        if (draft.empty()) draft = std::move(held.text);
        out.turn();
      }
      reasoning = false;
      continue;
    }
    reasoning = false;
    Parse inner = family.calls(in, out, markers, found - Family::kOpeners);
    co_await inner;
  }
  if (reasoning) {
    out.leave_reasoning_unfinished();
  } else {
    out.content.release();
  }
}

}  // namespace

Parse parse_answer(const Family& family, Scanner& in, AnswerSink& out, const Markers& markers,
                   bool reasoning) {
  return family.parse ? family.parse(in, out, markers) : parse_sections(family, in, out, markers, reasoning);
}

}  // namespace reprise::calls
