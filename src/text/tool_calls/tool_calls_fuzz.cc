// Any text as any family's answer: first byte the family, second how it is cut and what is known. Whatever
// comes, calls are well-formed, and the cut changes nothing.
#include <cstdint>
#include <string>

#include <boost/json.hpp>

#include "base/check.h"
#include "text/tool_calls/families.h"

namespace reprise::calls {
namespace {

const Tools& tools() {
  static const Tools tools(
      boost::json::parse(
          R"([{"type": "function", "function": {"name": "f", "parameters": {"properties": {"s": {"type": "string"},
              "i": {"type": "integer"}, "a": {"type": ["array", "null"]}, "x": {}}, "required": ["s"]}}},
             {"type": "function", "function": {"name": "g"}}])")
          .as_array());
  return tools;
}

std::vector<AnswerDelta> joined(std::vector<AnswerDelta> deltas) {
  std::vector<AnswerDelta> all;
  for (AnswerDelta& delta : deltas) {
    const bool text =
        delta.kind != AnswerDelta::Kind::kCallBegin && delta.kind != AnswerDelta::Kind::kCallEnd;
    if (text && !all.empty() && all.back().kind == delta.kind) {
      all.back().text += delta.text;
    } else {
      all.push_back(std::move(delta));
    }
  }
  return all;
}

void check(const std::vector<AnswerDelta>& deltas) {
  std::string arguments;
  bool in_call = false;
  for (const AnswerDelta& delta : deltas) {
    CHECK(delta.text.find(kMark) == std::string::npos);
    CHECK(in_call ==
          (delta.kind == AnswerDelta::Kind::kCallArguments || delta.kind == AnswerDelta::Kind::kCallEnd));
    if (delta.kind == AnswerDelta::Kind::kCallBegin) {
      CHECK(!delta.text.empty());
      in_call = true;
      arguments.clear();
    } else if (delta.kind == AnswerDelta::Kind::kCallArguments) {
      arguments += delta.text;
    } else if (delta.kind == AnswerDelta::Kind::kCallEnd) {
      in_call = false;
      boost::json::parse_options options;
      options.max_depth = 1000;
      boost::system::error_code error;
      // Bytes of a fuzzer may be no UTF-8; those of a detokenizer always are.
      options.allow_invalid_utf8 = true;
      const boost::json::value value = boost::json::parse(arguments, error, {}, options);
      CHECK(!error && value.is_object(), "{}", arguments);
    }
  }
  CHECK(!in_call);
}

std::vector<AnswerDelta> parsed(const Family& family, std::string_view text, size_t piece, bool reasoning,
                                bool as_tokens) {
  static const Tools none;
  std::vector<std::string> spelled;
  for (std::string_view marker : family.markers)
    spelled.push_back(as_tokens ? kMark + std::string(marker) : std::string(marker));
  const Markers markers(std::move(spelled));
  Scanner scanner;
  AnswerSink sink(tools());
  Parse parse = parse_answer(family, scanner, sink, markers, reasoning);
  parse.start();
  std::vector<AnswerDelta> all;
  const auto take = [&] {
    for (AnswerDelta& delta : sink.take()) all.push_back(std::move(delta));
  };
  for (size_t at = 0; at < text.size(); at += piece) {
    scanner.push(text.substr(at, piece));
    take();
  }
  scanner.end();
  take();
  CHECK(parse.done());
  return joined(std::move(all));
}

}  // namespace
}  // namespace reprise::calls

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace reprise;
  using namespace reprise::calls;
  if (size < 2) return 0;
  const Family& family = *families()[data[0] % families().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const bool reasoning = data[1] & 1, as_tokens = data[1] & 2;
  const auto whole = parsed(family, text, std::max<size_t>(text.size(), 1), reasoning, as_tokens);
  check(whole);
  CHECK(whole == parsed(family, text, 1 + (data[1] >> 2), reasoning, as_tokens),
        "cutting changes the answer");
  return 0;
}
