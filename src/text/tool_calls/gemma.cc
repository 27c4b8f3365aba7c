// Gemma 4: <|tool_call>call:f{key:<|"|>text<|"|>,other:5}<tool_call|>: JSON but for keys without quotes and
// strings between tokens of their own, without escapes. Reasoning in <|channel>thought\n...<channel|>.
#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

// Makes the format's strings JSON's.
class GemmaText final : public Receiver {
 public:
  explicit GemmaText(JsonReader& to) : to_(to) {}
  void put(std::string_view text) override {
    if (!quoted_) {
      to_.take(text);
      return;
    }
    std::string escaped;
    append_escaped(escaped, text);
    to_.take(escaped);
  }
  void quote() {
    quoted_ = !quoted_;
    to_.take("\"");
  }
  bool quoted() const { return quoted_; }

 private:
  JsonReader& to_;
  bool quoted_ = false;
};

constexpr std::string_view kMarkers[] = {"<|channel>thought\n", "<channel|>", "<|tool_call>", "<tool_call|>",
                                         "<|\"|>"};
enum : size_t { kOpen = 2, kClose, kQuote };

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t) {
  co_await in.space();
  co_await in.accept("call:");
  const std::string_view name_ends[] = {"{", markers[kClose], markers[kOpen]};
  Collected name;
  const size_t end = co_await in.until(name_ends, name);
  trim(name.text);
  if (end != 0 || name.text.empty()) {
    out.content.put(markers[kOpen]);
    out.content.put(name.text);
    if (end == 2) in.unread(name_ends[2]);
    co_return;
  }
  out.begin_call(name.text);
  JsonReader arguments(out.arguments);
  arguments.take("{");
  GemmaText text(arguments);
  const std::string_view parts[] = {markers[kQuote], markers[kClose], markers[kOpen]};
  for (;;) {
    const size_t part = co_await in.until(parts, text);
    if (part == 0) {
      text.quote();
      continue;
    }
    if (part == 2) in.unread(parts[2]);
    break;
  }
  arguments.close();
  out.end_call();
}

}  // namespace

const Family& gemma() {
  static constexpr Family family{.name = "gemma",
                                 .signs = {"<|tool_call>call:"},
                                 .markers = kMarkers,
                                 .openers = 1,
                                 .opener_ends_reasoning = true,
                                 .calls = calls};
  return family;
}

}  // namespace reprise::calls
