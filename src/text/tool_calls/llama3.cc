// Llama 3.1, 3.2, 3.3: a bare {"name": "f", "parameters": {...}}, several separated by ";"; <|python_tag|>
// may stand before it. There is no markup: an object at the beginning of a line is a call when it names a
// function that is offered, else text.
#include "text/tool_calls/families.h"
#include "text/tool_calls/json_call.h"

namespace reprise::calls {
namespace {

// Passes text on and knows whether a line begins at its end.
class Lines final : public Receiver {
 public:
  explicit Lines(Receiver& to) : to_(to) {}
  void put(std::string_view text) override {
    to_.put(text);
    const size_t last = text.find_last_not_of(" \t");
    if (last != text.npos) at_start_ = text[last] == '\n' || text[last] == '\r';
  }
  bool at_start() const { return at_start_; }

 private:
  Receiver& to_;
  bool at_start_ = true;
};

constexpr std::string_view kMarkers[] = {"<|python_tag|>"};

Parse parse(Scanner& in, AnswerSink& out, const Markers& markers) {
  const std::string_view openers[] = {markers[0], "{"};
  const std::string_view tag[] = {markers[0]};
  Lines content(out.content);
  bool after_call = false;
  for (;;) {
    if (after_call) {
      const char next = co_await in.space();
      if (next == ';') {
        co_await in.accept(";");
        co_await in.space();
      }
    }
    const size_t found = co_await in.until(openers, content);
    if (found == Scanner::kEnd) break;
    if (found == 0) {
      const char next = co_await in.space();
      after_call = next == '{';
      continue;
    }
    if (!content.at_start() && !after_call) {
      content.put("{");
      continue;
    }
    in.unread("{");
    std::string raw;
    in.record(&raw);
    JsonCall call;
    Parse parse = read_json_call(in, out, tag, call);
    co_await parse;
    in.record(nullptr);
    after_call = call.begun;
    if (!call.begun) content.put(raw);
  }
  out.content.release();
}

}  // namespace

const Family& llama3() {
  static constexpr Family family{
      .name = "llama3", .signs = {"<|python_tag|>"}, .markers = kMarkers, .parse = parse};
  return family;
}

}  // namespace reprise::calls
