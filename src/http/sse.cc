#include "http/sse.h"

namespace reprise::http {
namespace {

void append_data(std::string& out, std::string_view data) {
  while (true) {
    const size_t end = data.find_first_of("\r\n");
    out += "data: ";
    out += data.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) return;
    data.remove_prefix(end + (data.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

}  // namespace

std::string sse_data(std::string_view data) {
  std::string out;
  out.reserve(data.size() + 8);
  append_data(out, data);
  out += '\n';
  return out;
}

std::string sse_event(std::string_view name, std::string_view data) {
  std::string out;
  out.reserve(name.size() + data.size() + 16);
  out += "event: ";
  out += name;
  out += '\n';
  append_data(out, data);
  out += '\n';
  return out;
}

std::string sse_comment(std::string_view text) {
  std::string out = ": ";
  out += text;
  out += "\n\n";
  return out;
}

Result<void> SseParser::feed(std::string_view bytes, const std::function<void(SseEvent)>& on_event) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {  // the second half of a CRLF
      bytes.remove_prefix(1);
      continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.data.size() > max_event_) {
      return fail(ErrorKind::kTooLarge, "an event of the stream is larger than {} bytes", max_event_);
    }
    if (end == std::string_view::npos) return {};
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    std::string_view text = line_;
    if (std::exchange(at_start_, false) && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    line(text, on_event);
    line_.clear();
  }
  return {};
}

void SseParser::line(std::string_view line, const std::function<void(SseEvent)>& on_event) {
  if (line.empty()) {
    if (std::exchange(has_data_, false)) {
      event_.data.pop_back();  // the line feed after the last data line
      if (event_.name.empty()) event_.name = "message";
      on_event(std::move(event_));
    }
    event_ = {};
    return;
  }
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);  // empty: a comment
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    has_data_ = true;
    event_.data += value;
    event_.data += '\n';
  } else if (field == "event") {
    event_.name = value;
  }
}

}  // namespace reprise::http
