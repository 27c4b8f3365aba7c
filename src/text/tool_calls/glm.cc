// GLM-4.5, 4.6, 4.7, 5:
//   <tool_call>f\n<arg_key>k</arg_key>\n<arg_value>v</arg_value>\n...</tool_call>; from 4.7 on without line
//   breaks. Strings are bare, other values JSON.
// Tolerated: a value without its opening or closing tag, a call without arguments or without its closing tag.
#include "text/tool_calls/families.h"
#include "text/tool_calls/tagged_arguments.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"<think>",   "</think>",   "<tool_call>", "</tool_call>",
                                         "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"};
enum : size_t { kOpen = 2, kClose, kKey, kKeyEnd, kValue, kValueEnd };

// Up to its end, which may be missing; where tags are only text, one ends it if another may follow.
Parse read_value(Scanner& in, const Markers& markers, Receiver& value) {
  const std::string_view ends[] = {markers[kValueEnd], markers[kKey], markers[kClose]};
  for (;;) {
    const size_t end = co_await in.until(ends, value);
    if (end == Scanner::kEnd) co_return;
    if (ends[end].contains(kMark)) {
      if (end != 0) in.unread(ends[end]);
      co_return;
    }
    const std::string_view after_value[] = {markers[kKey], markers[kClose]};
    if (end == 0) {
      const size_t next = co_await in.follows(after_value);
      if (next != Scanner::kOther) co_return;
    }
    if (end == 2) {
      const size_t next = co_await in.follows(std::span<const std::string_view>());
      if (next == Scanner::kEnd) {
        in.unread(ends[end]);
        co_return;
      }
    }
    value.put(ends[end]);
  }
}

Parse read_argument(Scanner& in, AnswerSink& out, const Markers& markers, TaggedArguments& arguments) {
  const std::string_view key_ends[] = {markers[kKeyEnd], markers[kValue], markers[kClose]};
  Collected key;
  const size_t key_end = co_await in.until(key_ends, key);
  trim(key.text);
  if (key_end > 1) {
    if (key_end == 2) in.unread(key_ends[2]);
    co_return;
  }
  if (key_end == 0) {
    const std::string_view next[] = {markers[kValue], markers[kKey], markers[kClose]};
    const size_t follows = co_await in.follows(next);
    if (follows == 1 || follows == 2 || follows == Scanner::kEnd) co_return;  // a key alone says nothing
    if (follows == 0) {
      co_await in.space();
      co_await in.accept(next[0]);
    }
  }
  const bool wanted = arguments.begin(key.text);
  if (!wanted) {
    Dropped dropped;
    Parse value = read_value(in, markers, dropped);
    co_await value;
    co_return;
  }
  TaggedValue writer(out, arguments.types(), false);
  Parse value = read_value(in, markers, writer);
  co_await value;
  writer.end();
}

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t) {
  const std::string_view name_ends[] = {markers[kKey], markers[kClose], "\n", markers[kOpen]};
  Collected name;
  const size_t name_end = co_await in.until(name_ends, name);
  trim(name.text);
  if (name.text.empty() || name_end == 3 || (name_end == Scanner::kEnd && !out.tools().offers(name.text))) {
    out.content.put(markers[kOpen]);
    out.content.put(name.text);
    if (name_end != Scanner::kEnd) out.content.put(name_ends[name_end]);
    co_return;
  }
  out.begin_call(name.text);
  TaggedArguments arguments(out, name.text);
  if (name_end == 0) in.unread(name_ends[0]);
  const bool closed = name_end == 1;
  const std::string_view parts[] = {markers[kKey], markers[kClose], markers[kOpen]};
  while (!closed) {
    Dropped between;
    const size_t part = co_await in.until(parts, between);
    if (part == 2) in.unread(parts[2]);
    if (part != 0) break;
    Parse argument = read_argument(in, out, markers, arguments);
    co_await argument;
  }
  arguments.end();
}

}  // namespace

const Family& glm() {
  static constexpr Family family{
      .name = "glm", .signs = {"<arg_key>"}, .markers = kMarkers, .openers = 1, .calls = calls};
  return family;
}

}  // namespace reprise::calls
