#include "text/jinja/split.h"

#include <algorithm>

#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

size_t word_end(std::string_view s) {
  size_t i = 0;
  while (i < s.size() && !unicode::is_space(unicode::decode(s, i))) i = unicode::next(s, i);
  return i;
}

// Where the last word of `s` starts.
size_t word_start(std::string_view s) {
  size_t start = s.size();
  while (start > 0) {
    size_t i = start - 1;
    while (i > 0 && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80) --i;
    if (unicode::is_space(unicode::decode(s, i))) break;
    start = i;
  }
  return start;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view s, int64_t limit) {
  std::vector<std::string_view> parts;
  for (s = unicode::strip_left(s); !s.empty(); s = unicode::strip_left(s)) {
    if (limit >= 0 && static_cast<int64_t>(parts.size()) == limit) {
      parts.push_back(s);  // with what white space it ends in
      break;
    }
    const size_t end = word_end(s);
    parts.push_back(s.substr(0, end));
    s.remove_prefix(end);
  }
  return parts;
}

std::vector<std::string_view> split_words_right(std::string_view s, int64_t limit) {
  if (limit < 0) return split_words(s);
  std::vector<std::string_view> parts;
  for (s = unicode::strip_right(s); !s.empty(); s = unicode::strip_right(s)) {
    if (static_cast<int64_t>(parts.size()) == limit) {
      parts.push_back(s);
      break;
    }
    const size_t start = word_start(s);
    parts.push_back(s.substr(start));
    s = s.substr(0, start);
  }
  std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_on(std::string_view s, std::string_view separator, int64_t limit) {
  std::vector<std::string_view> parts;
  size_t i = 0;
  while (limit < 0 || static_cast<int64_t>(parts.size()) < limit) {
    const size_t at = s.find(separator, i);
    if (at == std::string_view::npos) break;
    parts.push_back(s.substr(i, at - i));
    i = at + separator.size();
  }
  parts.push_back(s.substr(i));
  return parts;
}

std::vector<std::string_view> split_on_right(std::string_view s, std::string_view separator, int64_t limit) {
  if (limit < 0) return split_on(s, separator);
  std::vector<std::string_view> parts;
  while (static_cast<int64_t>(parts.size()) < limit) {
    const size_t at = s.rfind(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(s.substr(at + separator.size()));
    s = s.substr(0, at);
  }
  parts.push_back(s);
  std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view s, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t i = 0; i < s.size();) {
    size_t next = unicode::next(s, i);
    if (!is_line_end(unicode::decode(s, i))) {
      i = next;
      continue;
    }
    if (s[i] == '\r' && next < s.size() && s[next] == '\n') ++next;
    lines.push_back(s.substr(start, (keep_ends ? next : i) - start));
    start = i = next;
  }
  if (start < s.size()) lines.push_back(s.substr(start));
  return lines;
}

}  // namespace reprise::jinja
