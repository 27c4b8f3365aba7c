#include "text/tool_calls/xml_calls.h"

#include <algorithm>
#include <string>
#include <vector>

#include "text/tool_calls/family.h"
#include "text/tool_calls/tagged_arguments.h"

namespace reprise::calls {
namespace {

struct Stops {
  enum : size_t { kArgumentClose, kArgumentOpen, kCallClose, kCallOpen, kSectionClose, kSectionOpen };
  explicit Stops(const XmlDialect& dialect)
      : all{dialect.argument_close, dialect.argument_open, dialect.call_close,
            dialect.call_open,      dialect.section_close, dialect.section_open} {}
  std::array<std::string_view, 6> all;
  std::string_view operator[](size_t i) const { return all[i]; }
  bool marked(size_t i) const { return all[i].find(kMark) != std::string_view::npos; }
};

bool among(size_t value, std::initializer_list<size_t> list) {
  return std::ranges::find(list, value) != list.end();
}

// Reads one value up to the end of its argument, closing tag included.
Parse read_value(Scanner& in, const Stops& stops, const TaggedArguments& arguments,
                 std::string_view name_close, Receiver& value) {
  for (;;) {
    const size_t found = co_await in.until(stops.all, value);
    if (found == Scanner::kEnd) co_return;
    if (stops.marked(found)) {
      // A token of the markup: certain.
      if (found != Stops::kArgumentClose) in.unread(stops[found]);
      co_return;
    }
    if (found == Stops::kArgumentClose) {
      const size_t next = co_await in.follows(stops.all);
      if (next == Scanner::kEnd ||
          among(next, {Stops::kArgumentOpen, Stops::kCallClose, Stops::kSectionClose}))
        co_return;
    } else if (found == Stops::kCallClose) {
      const size_t next = co_await in.follows(stops.all);
      if (next == Scanner::kEnd || among(next, {Stops::kSectionClose, Stops::kCallOpen})) {
        in.unread(stops[found]);
        co_return;
      }
    } else if (found == Stops::kArgumentOpen) {
      // The closing tag before it is missing, or it is text.
      const std::string_view ends[] = {name_close, "\n"};
      Collected key;
      const size_t end = co_await in.until(ends, key);
      std::string read(stops[found]);
      read += key.text;
      if (end != Scanner::kEnd) read += ends[end];
      if (end == 0 && arguments.expects(key.text)) {
        in.unread(read);
        co_return;
      }
      value.put(read);
      continue;
    } else if (found == Stops::kSectionClose) {
      const std::string_view opens[] = {stops[Stops::kSectionOpen]};
      const size_t next = co_await in.follows(opens);
      if (next == Scanner::kEnd) {
        in.unread(stops[found]);
        co_return;
      }
    }
    value.put(stops[found]);
  }
}

// Reads one call behind its opening tag. False in `begun`: it has no proper name.
Parse read_call(Scanner& in, AnswerSink& out, const XmlDialect& dialect, const Stops& stops, bool& begun) {
  const std::string_view name_ends[] = {dialect.name_close, "\n", "<"};
  Collected name_text;
  const size_t name_end = co_await in.until(name_ends, name_text);
  std::string name = name_text.text;
  trim(name);
  begun = name_end != Scanner::kEnd && name_end < 2 && !name.empty();
  if (!begun) {
    out.content.put(dialect.call_open);
    out.content.put(name_text.text);
    if (name_end != Scanner::kEnd) in.unread(name_ends[name_end]);
    co_return;
  }
  out.begin_call(name);
  TaggedArguments arguments(out, std::move(name));
  for (;;) {
    Dropped between;
    const size_t found = co_await in.until(stops.all, between);
    if (found == Stops::kCallClose || found == Scanner::kEnd) break;
    if (among(found, {Stops::kCallOpen, Stops::kSectionClose, Stops::kSectionOpen})) {
      in.unread(stops[found]);
      break;
    }
    if (found != Stops::kArgumentOpen) continue;
    const std::string_view key_ends[] = {dialect.name_close, "\n"};
    Collected key;
    co_await in.until(key_ends, key);
    bool string = true;
    if (dialect.typed) {
      const std::string_view attribute_ends[] = {">", "\n"};
      Collected attribute;
      co_await in.until(attribute_ends, attribute);
      string = !attribute.text.contains("false");
    }
    trim(key.text);
    const bool wanted = arguments.begin(key.text);
    if (!wanted) {
      Dropped dropped;
      Parse value = read_value(in, stops, arguments, dialect.name_close, dropped);
      co_await value;
      continue;
    }
    const JsonTypes types = dialect.typed ? (string ? kString : kAnyType) : arguments.types();
    TaggedValue writer(out, types, dialect.padded);
    Parse value = read_value(in, stops, arguments, dialect.name_close, writer);
    co_await value;
    writer.end();
  }
  arguments.end();
}

}  // namespace

Parse read_xml_calls(Scanner& in, AnswerSink& out, const XmlDialect& dialect, bool in_call) {
  const Stops stops(dialect);
  size_t calls = 0;
  for (;;) {
    if (!in_call) {
      const size_t next = co_await in.follows(stops.all);
      if (next == Stops::kSectionClose) {
        co_await in.space();
        co_await in.accept(stops[next]);
        if (calls == 0) out.content.interrupt();
        co_return;
      }
      if (next != Stops::kCallOpen) {
        // Without a call, what was opened is text.
        if (calls == 0) out.content.put(dialect.section_open);
        co_return;
      }
      co_await in.space();
      co_await in.accept(stops[next]);
    }
    in_call = false;
    bool begun = false;
    Parse call = read_call(in, out, dialect, stops, begun);
    co_await call;
    if (!begun) co_return;
    ++calls;
  }
}

}  // namespace reprise::calls
