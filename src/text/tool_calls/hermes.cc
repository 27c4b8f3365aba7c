// Hermes 2/3, Qwen2.5, Qwen3 and many that were trained like them:
//   <tool_call>\n{"name": "f", "arguments": {...}}\n</tool_call>, repeated; reasoning in <think>...</think>.
// Tolerated: no closing tag, several objects or an array of them in one pair of tags, braces too many at the
// end.
#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"<think>", "</think>", "<tool_call>", "</tool_call>"};
constexpr size_t kOpen = 2, kClose = 3;

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t) {
  const std::string_view stops[] = {markers[kClose], markers[kOpen]};
  const std::span<const std::string_view> close(stops, 1);
  std::string raw(stops[1]);
  in.record(&raw);
  JsonCall call{.offered = false};
  for (;;) {
    const char next = co_await in.space();
    if (next == '[' || next == ',' || next == ']' || (next == '}' && call.begun)) {
      const char bracket[] = {next, '\0'};
      co_await in.accept(bracket);
      continue;
    }
    if (next != '{') break;
    JsonCall one{.offered = false};
    Parse parse = read_json_call(in, out, stops, one);
    co_await parse;
    call.begun = call.begun || one.begun;
    if (!one.begun) break;
  }
  in.record(nullptr);
  if (call.begun) {
    co_await in.accept(stops[0]);
    co_return;
  }
  // No call: whoever reads the answer is to see what it was.
  out.content.put(raw);
  const size_t found = co_await in.until(close, out.content);
  if (found == 0) out.content.put(stops[0]);
}

}  // namespace

const Family& hermes() {
  static constexpr Family family{
      .name = "hermes", .signs = {"<tool_call>"}, .markers = kMarkers, .openers = 1, .calls = calls};
  return family;
}

}  // namespace reprise::calls
