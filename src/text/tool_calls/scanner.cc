// Invariant: between pushes the reader waits in exactly one Wait, or is done. A Wait takes from the buffer
// all that no later text can give another meaning, so the buffer stays as short as the longest marker.
#include "text/tool_calls/scanner.h"

#include <algorithm>
#include <utility>

namespace reprise::calls {

void Scanner::wake() {
  if (waiting_ == nullptr || !waiting_->poll()) return;
  std::exchange(waiting_, nullptr)->reader_.resume();
}

void Scanner::push(std::string_view text) {
  buffer_ += text;
  wake();
}

void Scanner::end() {
  ended_ = true;
  wake();
}

void Scanner::drop(size_t bytes) {
  if (raw_) raw_->append(buffer_, 0, bytes);
  buffer_.erase(0, bytes);
}

namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Where `marker` begins in `text`; with `partly` also where the text ends in the middle of it.
size_t first(std::string_view text, std::string_view marker, bool partly) {
  const size_t at = text.find(marker);
  if (at != text.npos || !partly) return at;
  for (size_t size = std::min(text.size(), marker.size() - 1); size > 0; --size) {
    if (text.ends_with(marker.substr(0, size))) return text.size() - size;
  }
  return text.npos;
}

}  // namespace

Scanner::Hit Scanner::find(std::span<const std::string_view> markers) const {
  Hit best{buffer_.size(), kEnd};
  for (size_t i = 0; i < markers.size(); ++i) {
    const size_t at = markers[i].empty() ? std::string::npos : first(buffer_, markers[i], !ended_);
    if (at > best.at || at == std::string::npos) continue;
    const bool whole = at + markers[i].size() <= buffer_.size();
    if (at < best.at) {
      best = {at, whole ? i : kEnd};
    } else if (!whole) {
      best.marker = kEnd;  // it is longer than those that are whole, and may still come
    } else if (best.marker != kEnd && markers[i].size() > markers[best.marker].size()) {
      best.marker = i;
    }
  }
  return best;
}

bool Scanner::Until::poll() {
  const Hit hit = scanner_.find(markers_);
  if (hit.at > 0) to_.put(std::string_view(scanner_.buffer_).substr(0, hit.at));
  found_ = hit.marker;
  scanner_.drop(hit.at + (found_ == kEnd ? 0 : markers_[found_].size()));
  return found_ != kEnd || scanner_.ended();
}

bool Scanner::Space::poll() {
  const size_t at = scanner_.buffer_.find_first_not_of(kSpace);
  scanner_.drop(std::min(at, scanner_.buffer_.size()));
  return at != std::string::npos || scanner_.ended_;
}

bool Scanner::Accept::poll() {
  const std::string_view here = std::string_view(scanner_.buffer_).substr(0, literal_.size());
  if (!literal_.starts_with(here)) return true;
  if (here.size() < literal_.size()) return scanner_.ended_;
  scanner_.drop(here.size());
  found_ = true;
  return true;
}

bool Scanner::Follows::poll() {
  std::string_view rest = scanner_.buffer_;
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  if (rest.empty()) return scanner_.ended_;
  bool may_come = false;
  found_ = kOther;
  for (size_t i = 0; i < texts_.size(); ++i) {
    if (texts_[i].empty()) continue;
    if (rest.starts_with(texts_[i])) {
      if (found_ == kOther || texts_[i].size() > texts_[found_].size()) found_ = i;
    } else if (texts_[i].starts_with(rest)) {
      may_come = true;
    }
  }
  return !may_come || scanner_.ended_;
}

bool Scanner::Value::poll() {
  while (!value_.complete() && !scanner_.buffer_.empty()) {
    const Hit hit = scanner_.find(markers_);
    if (hit.at > 0) {
      const size_t taken = value_.take(std::string_view(scanner_.buffer_).substr(0, hit.at));
      scanner_.drop(taken);
      if (taken < hit.at) break;
      continue;
    }
    const bool marked = scanner_.buffer_.front() == kMark;
    if (marked || !value_.quoting()) {
      if (hit.marker == kEnd && !scanner_.ended_) return false;  // it may become a marker
      if (hit.marker != kEnd) return true;
    }
    // Only text: its first character at least is no marker's.
    size_t size = 1;
    while (size < scanner_.buffer_.size() && (scanner_.buffer_[size] & 0xC0) == 0x80) ++size;
    scanner_.drop(value_.take(std::string_view(scanner_.buffer_).substr(0, size)));
  }
  return value_.complete() || scanner_.ended_;
}

}  // namespace reprise::calls
