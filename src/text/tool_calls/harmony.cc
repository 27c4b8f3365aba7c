// gpt-oss (openai/harmony, docs/format.md): messages
//   <|start|>assistant<|channel|>analysis|commentary|final<|message|>text<|end|>
// of which analysis is reasoning, final and commentary are content, and one with a recipient, "
// to=functions.f" in the role's or the channel's part of its head, is a call. The prompt ends in the first
// head. Tolerated: anything in heads, channels named twice, no <|start|>, a message without a head (content).
#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"<|message|>", "<|end|>",     "<|call|>",     "<|return|>",
                                         "<|start|>",   "<|channel|>", "<|constrain|>"};

// "functions.f" -> "f", of "assistant<|channel|>commentary to=functions.f <|constrain|>json"; empty: there
// is none.
std::string recipient(std::string_view head) {
  constexpr std::string_view kTo = "to=", kFunctions = "functions.";
  const size_t at = head.find(kTo);
  if (at == head.npos) return {};
  std::string_view name = head.substr(at + kTo.size());
  name = name.substr(0, name.find_first_of(" \t\r\n<\xFF"));
  if (name == "assistant") return {};
  if (name.starts_with(kFunctions)) name.remove_prefix(kFunctions.size());
  return std::string(name);
}

void headless(AnswerSink& out, const Markers& markers, std::string_view text) {
  const size_t channel = text.rfind(markers[5]);
  const bool named = channel != text.npos;
  if (named) text.remove_prefix(channel + markers[5].size());
  const bool analysis = named && text.starts_with("analysis");
  for (const std::string_view word : {"assistant", "analysis", "commentary", "final"})
    if (text.starts_with(word)) text.remove_prefix(word.size());
  out.turn();
  (analysis ? out.reasoning : out.content).put(text);
}

Parse parse(Scanner& in, AnswerSink& out, const Markers& markers) {
  const std::string_view stops[] = {markers[0], markers[1], markers[2], markers[3], markers[4]};
  const std::span<const std::string_view> ends(&stops[1], 4);
  for (;;) {
    Collected head;
    size_t found = co_await in.until(stops, head);
    if (found == 4) continue;
    if (found != 0) {
      // No message: what stands here was meant to be one, of the channel it names if it names one.
      headless(out, markers, head.text);
      if (found == Scanner::kEnd) break;
      continue;
    }
    const std::string function = out.tools().empty() ? std::string() : recipient(head.text);
    if (!function.empty()) {
      out.begin_call(function);
      Parse arguments = read_arguments(in, out, ends);
      co_await arguments;
      Dropped rest;
      found = co_await in.until(ends, rest);
    } else {
      out.turn();
      Receiver& text = head.text.contains("analysis") ? static_cast<Receiver&>(out.reasoning) : out.content;
      found = co_await in.until(ends, text);
    }
    if (found == Scanner::kEnd) break;
  }
  out.content.release();
}

}  // namespace

const Family& harmony() {
  static constexpr Family family{.name = "harmony",
                                 .signs = {"<|channel|>", "<|message|>"},
                                 .markers = kMarkers,
                                 .parse = parse,
                                 .always = true};
  return family;
}

}  // namespace reprise::calls
