// Mistral: [TOOL_CALLS]f[ARGS]{...}, repeated, an id between [CALL_ID] and [ARGS] where there is one
// (Devstral, Mistral Small 3.2 and later); [TOOL_CALLS][{"name": "f", "arguments": {...}}, ...] before.
// Reasoning in [THINK]...[/THINK].
#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"[THINK]", "[/THINK]", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"};
enum : size_t { kOpen = 2, kArguments, kId };

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t) {
  const std::string_view stops[] = {markers[kOpen]};
  char next = co_await in.space();
  if (next == '[' || next == '{') {
    std::string raw(markers[kOpen]);
    in.record(&raw);
    bool any = false;
    while (next == '[' || next == ',' || next == '{') {
      if (next == '{') {
        JsonCall call{.offered = false};
        Parse parse = read_json_call(in, out, stops, call);
        co_await parse;
        any = any || call.begun;
        if (!call.begun) break;
      } else {
        const char bracket[] = {next, '\0'};
        co_await in.accept(bracket);
      }
      next = co_await in.space();
    }
    if (next == ']') co_await in.accept("]");
    in.record(nullptr);
    if (!any) out.content.put(raw);
    co_return;
  }
  const std::string_view head_ends[] = {markers[kArguments], markers[kId], "{", markers[kOpen]};
  Collected name, id;
  size_t end = co_await in.until(head_ends, name);
  if (end == 1) end = co_await in.until(head_ends, id);
  trim(name.text);
  trim(id.text);
  if (name.text.empty() || (end != 0 && end != 2)) {
    out.content.put(markers[kOpen]);
    out.content.put(name.text);
    if (end != Scanner::kEnd) in.unread(head_ends[end]);
    co_return;
  }
  if (end == 2) in.unread("{");
  out.begin_call(name.text, id.text);
  Parse arguments = read_arguments(in, out, stops);
  co_await arguments;
}

}  // namespace

const Family& mistral() {
  static constexpr Family family{.name = "mistral",
                                 .signs = {"[TOOL_CALLS]"},
                                 .markers = kMarkers,
                                 .openers = 1,
                                 .opener_ends_reasoning = true,
                                 .calls = calls};
  return family;
}

}  // namespace reprise::calls
