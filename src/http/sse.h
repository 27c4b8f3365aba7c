// Server-sent events (WHATWG HTML §9.2): formatting for the server, an incremental parser for clients.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise::http {

// "data: ...\n\n"; line breaks inside the data become further data lines.
std::string sse_data(std::string_view data);
// "event: NAME\ndata: ...\n\n"
std::string sse_event(std::string_view name, std::string_view data);
// ": TEXT\n\n": a keep-alive that every client ignores. TEXT holds no line break.
std::string sse_comment(std::string_view text);

struct SseEvent {
  std::string name;  // "message" when the stream names none
  std::string data;  // lines joined by '\n'
};

// Bytes in, in any pieces; events out as soon as their blank line has arrived. LF, CRLF and CR end lines; a
// BOM at the start is skipped; an unfinished event at the end of the stream is dropped, as the standard says.
class SseParser {
 public:
  explicit SseParser(size_t max_event = 64 << 20) : max_event_(max_event) {}
  // Fails when one event grows past the limit; the parser is then of no more use.
  Result<void> feed(std::string_view bytes, const std::function<void(SseEvent)>& on_event);

 private:
  void line(std::string_view line, const std::function<void(SseEvent)>& on_event);
  size_t max_event_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool at_start_ = true;
};

}  // namespace reprise::http
