// Text of which some parts were written by a chat template and the rest by its input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace reprise {

struct TextSpan {  // bytes [begin, end)
  size_t begin = 0;
  size_t end = 0;
  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

struct MarkedText {
  std::string text;
  std::vector<TextSpan> own;  // what the template itself wrote: rising, none touching the next
};

// Adds a span that begins at or after the end of the last one, joining them where they touch.
inline void append_span(std::vector<TextSpan>& spans, TextSpan span) {
  if (span.begin == span.end) return;
  if (!spans.empty() && spans.back().end == span.begin) {
    spans.back().end = span.end;
  } else {
    spans.push_back(span);
  }
}

// Leaves the first `size` bytes.
inline void cut(MarkedText& marked, size_t size) {
  marked.text.resize(size);
  while (!marked.own.empty() && marked.own.back().begin >= size) marked.own.pop_back();
  if (!marked.own.empty()) marked.own.back().end = std::min(marked.own.back().end, size);
}

}  // namespace reprise
