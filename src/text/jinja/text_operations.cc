#include "text/jinja/text_operations.h"

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

// Whether the code point at bytes [i, end) of s is one of `characters`.
bool is_one_of(std::string_view s, size_t i, size_t end, std::string_view characters) {
  const std::string_view c = s.substr(i, end - i);
  if (c.size() == 1 || characters.size() == c.size()) return characters.find(c) != std::string_view::npos;
  for (size_t k = 0; k < characters.size();) {
    const size_t next = unicode::next(characters, k);
    if (characters.substr(k, next - k) == c) return true;
    k = next;
  }
  return false;
}

}  // namespace

std::string_view strip(std::string_view s, Side side, std::optional<std::string_view> characters) {
  if (!characters) {
    if (side != Side::kRight) s = unicode::strip_left(s);
    return side != Side::kLeft ? unicode::strip_right(s) : s;
  }
  size_t start = 0;
  if (side != Side::kRight) {
    while (start < s.size()) {
      const size_t next = unicode::next(s, start);
      if (!is_one_of(s, start, next, *characters)) break;
      start = next;
    }
  }
  size_t end = s.size();
  if (side != Side::kLeft) {
    while (end > start) {
      size_t i = end - 1;
      while (i > start && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80) --i;
      if (!is_one_of(s, i, end, *characters)) break;
      end = i;
    }
  }
  return s.substr(start, end - start);
}

Value replace(Runtime& rt, std::string_view s, std::string_view from, std::string_view to, int64_t limit,
              bool safe) {
  rt.charge(s.size() / 64);
  if (limit < 0) limit = INT64_MAX;
  Builder out(rt);
  size_t i = 0;
  if (from.empty()) {
    for (; limit > 0; --limit) {
      out.append(to);
      if (i >= s.size()) break;
      const size_t next = unicode::next(s, i);
      out.append(s.substr(i, next - i));
      i = next;
    }
  } else {
    if (s.find(from) == std::string_view::npos) return Value::string(s, safe);
    for (; limit > 0; --limit) {
      const size_t at = s.find(from, i);
      if (at == std::string_view::npos) break;
      out.append(s.substr(i, at - i));
      out.append(to);
      i = at + from.size();
    }
  }
  if (i < s.size()) out.append(s.substr(i));
  return out.finish(safe);
}

Value pad_to(Runtime& rt, Value s, int64_t width, std::string_view fill, Side padding) {
  if (unicode::length(fill) != 1) raise("The fill character must be exactly one character long");
  const auto size = static_cast<int64_t>(unicode::length(s.text()));
  if (width <= size) return s;
  const int64_t missing = width - size;
  rt.heap.require(static_cast<size_t>(missing), fill.size());
  int64_t before = padding == Side::kLeft ? missing : 0;
  if (padding == Side::kBoth) before = missing / 2 + (missing & width & 1);
  Builder out(rt);
  for (int64_t k = 0; k < before; ++k) out.append(fill);
  out.append(s.text());
  for (int64_t k = before; k < missing; ++k) out.append(fill);
  return out.finish(s.safe());
}

Value join(Runtime& rt, Value separator, Value items, bool convert) {
  const Sequence sequence = iterate(rt, items);
  Builder out(rt);
  for (size_t i = 0; i < sequence.size(); ++i) {
    rt.charge();
    const Value v = sequence.at(i);
    if (i > 0) out.append(separator.text());
    if (separator.safe()) {
      out.append(escape(rt, v).text());
    } else if (convert) {
      append_str(rt, v, out);
    } else if (v.is_string()) {
      out.append(v.text());
    } else {
      raise("sequence item {}: expected str instance, {} found", i, type_name(v));
    }
  }
  return out.finish(separator.safe());
}

}  // namespace reprise::jinja
