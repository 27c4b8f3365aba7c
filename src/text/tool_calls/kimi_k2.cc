// Kimi K2, K2-Thinking, K2.5, K2.6 (MoonshotAI/Kimi-K2, docs/tool_call_guidance.md):
//   <|tool_calls_section_begin|>(<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>)+
//   <|tool_calls_section_end|>. A section ends reasoning. The id is the call's, and is passed on.
// Tolerated: no section around calls, ids that are not of that form (they then tell the function as far as
// they can).
#include <algorithm>

#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kPrefix = "functions";

// Of "functions.f:0": "f". Of ids that models make up ("f:0", "functionsf0", "f") the offered name in them;
// empty when there is none ("call_2", "3").
std::string function_in(std::string_view id, const Tools& tools) {
  std::string_view name = id;
  const size_t colon = name.rfind(':');
  if (colon != name.npos) name = name.substr(0, colon);
  if (name.starts_with("functions.")) {
    name.remove_prefix(kPrefix.size() + 1);
    if (colon != name.npos || tools.offers(name)) return std::string(name);
  }
  if (tools.offers(name)) return std::string(name);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  while (!tools.offers(name) && !name.empty() && name.back() >= '0' && name.back() <= '9')
    name.remove_suffix(1);
  return tools.offers(name) ? std::string(name) : std::string();
}

constexpr std::string_view kMarkers[] = {"<think>",
                                         "</think>",
                                         "<|tool_calls_section_begin|>",
                                         "<|tool_call_begin|>",
                                         "<|tool_call_argument_begin|>",
                                         "<|tool_call_end|>",
                                         "<|tool_calls_section_end|>"};
enum : size_t { kSectionOpen = 2, kCallOpen, kArguments, kCallClose, kSectionClose };

void call_by_arguments(AnswerSink& out, const std::string& id, const std::string& arguments) {
  std::vector<std::string> keys;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(arguments, error);
  if (const boost::json::object* object = error ? nullptr : value.if_object())
    for (const auto& member : *object) keys.emplace_back(member.key());
  const std::vector<std::string>& names = out.tools().names();
  std::string_view function =
      names.size() == 1 ? std::string_view(names.front()) : out.tools().that_takes(keys);
  if (function.empty()) {
    out.content.put(id);
    out.content.put(arguments);
    return;
  }
  out.begin_call(function, id);
  out.arguments.put(arguments);
  out.end_call();
}

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t opener) {
  const std::string_view stops[] = {markers[kArguments], markers[kCallClose], markers[kCallOpen],
                                    markers[kSectionClose]};
  const std::string_view next[] = {markers[kCallOpen], markers[kSectionClose]};
  bool in_call = opener == 1;
  for (;;) {
    if (!in_call) {
      // Text between calls is content.
      const size_t found = co_await in.until(next, out.content);
      if (found != 0) co_return;
    }
    in_call = false;
    Collected head;
    const size_t end = co_await in.until(stops, head);
    trim(head.text);
    if (end != 0) {  // no call
      out.content.put(head.text);
      if (end == Scanner::kEnd) co_return;
      if (end > 1) in.unread(stops[end]);
      continue;
    }
    const std::span<const std::string_view> ends(&stops[1], 3);
    const std::string function = function_in(head.text, out.tools());
    if (!function.empty()) {
      out.begin_call(function, head.text);
      Parse arguments = read_arguments(in, out, ends);
      co_await arguments;
    } else {
      // The arguments may tell which function is meant.
      Collected text;
      JsonReader reader(text);
      co_await in.value(reader, ends);
      reader.close();
      call_by_arguments(out, head.text, text.text);
    }
    co_await in.space();
    co_await in.accept(markers[kCallClose]);
  }
}

}  // namespace

const Family& kimi_k2() {
  static constexpr Family family{.name = "kimi_k2",
                                 .signs = {"<|tool_calls_section_begin|>"},
                                 .markers = kMarkers,
                                 .openers = 2,
                                 .opener_ends_reasoning = true,
                                 .calls = calls};
  return family;
}

}  // namespace reprise::calls
