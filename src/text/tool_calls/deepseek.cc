// DeepSeek-V3.1:
// <｜tool▁calls▁begin｜>(<｜tool▁call▁begin｜>name<｜tool▁sep｜>{...}<｜tool▁call▁end｜>)+<｜tool▁calls▁end｜>
// DeepSeek-V3 and R1: in each call function<｜tool▁sep｜>name\n```json\n{...}\n```.
#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"<think>",
                                         "</think>",
                                         "<｜tool▁calls▁begin｜>",
                                         "<｜tool▁call▁begin｜>",
                                         "<｜tool▁sep｜>",
                                         "<｜tool▁call▁end｜>",
                                         "<｜tool▁calls▁end｜>"};
enum : size_t { kSectionOpen = 2, kCallOpen, kSeparator, kCallClose, kSectionClose };

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t opener) {
  const std::string_view stops[] = {markers[kSeparator], markers[kCallClose], markers[kCallOpen],
                                    markers[kSectionClose]};
  const std::string_view next[] = {markers[kCallOpen], markers[kSectionClose]};
  bool in_call = opener == 1;
  for (;;) {
    if (!in_call) {
      const size_t found = co_await in.follows(next);
      if (found > 1) co_return;
      co_await in.space();
      co_await in.accept(next[found]);
      if (found == 1) co_return;
    }
    in_call = false;
    Collected head;
    const size_t end = co_await in.until(stops, head);
    if (end != 0) {  // no call
      out.content.put(head.text);
      if (end == Scanner::kEnd) co_return;
      if (end > 1) in.unread(stops[end]);
      continue;
    }
    std::string name = std::move(head.text);
    const char first = co_await in.space();
    if (first != '{') {  // the function's name is behind the separator
      constexpr std::string_view kLine[] = {"\n", "```"};
      Collected line;
      co_await in.until(kLine, line);
      if (!line.text.empty()) name = std::move(line.text);
      co_await in.space();
      co_await in.accept("```");
      co_await in.accept("json");
    }
    trim(name);
    if (name.empty()) continue;
    out.begin_call(name);
    const std::span<const std::string_view> ends(&stops[1], 3);
    Parse arguments = read_arguments(in, out, ends);
    co_await arguments;
    co_await in.space();
    co_await in.accept("```");
    co_await in.space();
    co_await in.accept(markers[kCallClose]);
  }
}

}  // namespace

const Family& deepseek() {
  static constexpr Family family{.name = "deepseek",
                                 .signs = {"<｜tool▁call▁begin｜>"},
                                 .markers = kMarkers,
                                 .openers = 2,
                                 .opener_ends_reasoning = true,
                                 .calls = calls};
  return family;
}

}  // namespace reprise::calls
