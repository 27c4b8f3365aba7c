// The methods of Python's str that make sense in a template (all but encode, translate and maketrans).
// Results of methods on Markup are Markup, and arguments that become part of the text are escaped, as
// markupsafe does it.
#include <algorithm>
#include <array>
#include <optional>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/format.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/split.h"
#include "text/jinja/text_operations.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

std::string_view need_string(Value v, std::string_view method) {
  if (!v.is_string()) raise("{}() argument must be str, not {}", method, type_name(v));
  return v.text();
}

void none_expected(std::string_view method, const Args& args) { bind<0>(method, args, {}); }

// ---- case ----

template <std::string (*transform)(std::string_view)>
Value transformed(Runtime& rt, Value self, const Args& args) {
  none_expected("str method", args);
  rt.charge(self.text().size() / 16);
  rt.heap.require(self.text().size(), 2);
  return rt.heap.derived(transform(self.text()), self, self.safe());
}

// ---- strip, split, join ----

template <Side side>
Value stripped(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("strip", args, {""});
  rt.charge(self.text().size() / 256);
  std::optional<std::string_view> characters;
  if (a.given(0)) characters = need_string(a.at(0), "strip");
  return Value::string(strip(self.text(), side, characters), self.safe());
}

Value list_of(Runtime& rt, const std::vector<std::string_view>& parts, bool safe) {
  rt.charge(parts.size());
  const Value list = new_list(rt);
  for (const std::string_view part : parts) list.list()->push(rt, Value::string(part, safe));
  return list;
}

template <bool right>
Value split(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("split", args, {"sep", "maxsplit"});
  const std::string_view s = self.text();
  rt.charge(s.size() / 32);
  const int64_t limit = a[1] ? to_index(a.at(1)) : kNoLimit;
  if (!a.given(0))
    return list_of(rt, right ? split_words_right(s, limit) : split_words(s, limit), self.safe());
  const std::string_view separator = need_string(a.at(0), "split");
  if (separator.empty()) raise("empty separator");
  return list_of(rt, right ? split_on_right(s, separator, limit) : split_on(s, separator, limit),
                 self.safe());
}

Value splitlines(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("splitlines", args, {"keepends"});
  rt.charge(self.text().size() / 16);
  return list_of(rt, split_lines(self.text(), a[0] && truthy(a.at(0))), self.safe());
}

template <bool right>
Value partition(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("partition", args, {""}, 1);
  const std::string_view s = self.text();
  const std::string_view separator = need_string(a.at(0), "partition");
  if (separator.empty()) raise("empty separator");
  rt.charge(s.size() / 64);
  const size_t at = right ? s.rfind(separator) : s.find(separator);
  std::array<std::string_view, 3> parts = {s, "", ""};
  if (at != std::string_view::npos) {
    parts = {s.substr(0, at), s.substr(at, separator.size()), s.substr(at + separator.size())};
  } else if (right) {
    std::swap(parts[0], parts[2]);
  }
  std::array<Value, 3> values;
  std::ranges::transform(parts, values.begin(), [&](auto part) { return Value::string(part, self.safe()); });
  return new_tuple(rt, values);
}

Value join_method(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("join", args, {""}, 1);
  return join(rt, self, a.at(0), false);
}

// ---- search ----

struct Window {  // str.find's start and end, as bytes
  size_t start = 0;
  size_t end = 0;
  bool valid = true;
};

Window window(std::string_view s, const Value* start, const Value* end) {
  Window w{0, s.size()};
  if (start == nullptr && end == nullptr) return w;
  const auto size = static_cast<int64_t>(unicode::length(s));
  const auto clip = [&](const Value* v, int64_t absent) {
    if (v == nullptr || v->is(Kind::kNone)) return absent;
    const int64_t i = to_index(*v);
    return i < 0 ? std::max<int64_t>(i + size, 0) : i;
  };
  const int64_t first = clip(start, 0);
  const int64_t last = std::min(clip(end, size), size);
  w.valid = first <= last;
  w.start = unicode::offset(s, static_cast<size_t>(std::min(first, size)));
  w.end = unicode::offset(s, static_cast<size_t>(last));
  return w;
}

template <bool right>
int64_t position(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<3>("find", args, {"", "", ""}, 1);
  const std::string_view s = self.text();
  const std::string_view wanted = need_string(a.at(0), "find");
  rt.charge(s.size() / 64);
  const Window w = window(s, a[1], a[2]);
  if (!w.valid) return -1;
  const std::string_view part = s.substr(w.start, w.end - w.start);
  const size_t at = right ? part.rfind(wanted) : part.find(wanted);
  if (at == std::string_view::npos) return -1;
  return static_cast<int64_t>(unicode::length(s.substr(0, w.start + at)));
}

template <bool right>
Value find(Runtime& rt, Value self, const Args& args) {
  return Value::integer(position<right>(rt, self, args));
}

template <bool right>
Value index(Runtime& rt, Value self, const Args& args) {
  const int64_t at = position<right>(rt, self, args);
  if (at < 0) raise("substring not found");
  return Value::integer(at);
}

Value count(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<3>("count", args, {"", "", ""}, 1);
  const std::string_view s = self.text();
  const std::string_view wanted = need_string(a.at(0), "count");
  rt.charge(s.size() / 32);
  const Window w = window(s, a[1], a[2]);
  if (!w.valid) return Value::integer(0);
  const std::string_view part = s.substr(w.start, w.end - w.start);
  if (wanted.empty()) return Value::integer(static_cast<int64_t>(unicode::length(part)) + 1);
  int64_t n = 0;
  for (size_t i = part.find(wanted); i != std::string_view::npos; i = part.find(wanted, i + wanted.size()))
    ++n;
  return Value::integer(n);
}

template <bool suffix>
Value has_affix(Runtime&, Value self, const Args& args) {
  const auto a = bind<3>("startswith", args, {"", "", ""}, 1);
  const std::string_view s = self.text();
  const Window w = window(s, a[1], a[2]);
  const auto matches = [&](Value affix) {
    if (!affix.is_string()) {
      if (affix.is(Kind::kUndefined)) raise_undefined(affix);
      raise("{} first arg must be str or a tuple of str, not {}", suffix ? "endswith" : "startswith",
            type_name(affix));
    }
    if (!w.valid) return false;
    const std::string_view part = s.substr(w.start, w.end - w.start);
    return suffix ? part.ends_with(affix.text()) : part.starts_with(affix.text());
  };
  if (!a.at(0).is(Kind::kTuple)) return Value::boolean(matches(a.at(0)));
  return Value::boolean(std::ranges::any_of(a.at(0).list()->span(), matches));
}

// ---- edit ----

// An argument that becomes part of the text: escaped text takes anything, as its escaped form.
std::string_view inserted(Runtime& rt, Value self, Value v, std::string_view method) {
  return self.safe() ? escape(rt, v).text() : need_string(v, method);
}

Value replace_method(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<3>("replace", args, {"", "", ""}, 2);
  const int64_t limit = a[2] ? to_index(a.at(2)) : kNoLimit;
  return replace(rt, self.text(), need_string(a.at(0), "replace"), inserted(rt, self, a.at(1), "replace"),
                 limit, self.safe());
}

template <bool suffix>
Value remove_affix(Runtime&, Value self, const Args& args) {
  const auto a = bind<1>("removeprefix", args, {""}, 1);
  std::string_view s = self.text();
  const std::string_view affix = need_string(a.at(0), "removeprefix");
  if (suffix && s.ends_with(affix)) s.remove_suffix(affix.size());
  if (!suffix && s.starts_with(affix)) s.remove_prefix(affix.size());
  return Value::string(s, self.safe());
}

template <Side padding>
Value padded(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<2>("center", args, {"", ""}, 1);
  const std::string_view fill = a[1] ? inserted(rt, self, a.at(1), "center") : " ";
  return pad_to(rt, self, to_index(a.at(0)), fill, padding);
}

Value zfill(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("zfill", args, {""}, 1);
  const std::string_view s = self.text();
  const bool sign = s.starts_with('-') || s.starts_with('+');
  const Value digits = Value::string(sign ? s.substr(1) : s);
  const int64_t width = to_index(a.at(0));
  const Value filled = pad_to(rt, digits, sign ? std::max<int64_t>(width, 1) - 1 : width, "0", Side::kLeft);
  if (!sign) return Value::string(filled.text(), self.safe());
  return rt.heap.concat(Value::string(s.substr(0, 1), self.safe()), filled.text());
}

Value expandtabs(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("expandtabs", args, {"tabsize"});
  const int64_t size = a[0] ? to_index(a.at(0)) : 8;
  const std::string_view s = self.text();
  Builder out(rt);
  int64_t column = 0;
  for (size_t i = 0; i < s.size(); i = unicode::next(s, i)) {
    if (s[i] == '\t') {
      if (size > 0) {
        const int64_t n = size - column % size;
        out.append(static_cast<size_t>(n), ' ');
        column += n;
      }
    } else {
      out.append(s.substr(i, unicode::next(s, i) - i));
      column = s[i] == '\n' || s[i] == '\r' ? 0 : column + 1;
    }
  }
  return out.finish(self.safe());
}

Value format_method(Runtime& rt, Value self, const Args& args) { return format_braces(rt, self, args); }

Value format_map(Runtime& rt, Value self, const Args& args) {
  const auto a = bind<1>("format_map", args, {""}, 1);
  std::vector<NamedArg> named;  // of what is no dict none: any field is an error then, no field is none
  if (a.at(0).is(Kind::kDict)) {
    const Dict& dict = *a.at(0).dict();
    for (uint32_t i = 0; i < dict.end; ++i) {
      if (dict.entries[i].key.is_string())
        named.push_back({dict.entries[i].key.text(), dict.entries[i].value});
    }
  }
  return format_braces(rt, self, Args{{}, named});
}

// ---- classes ----

template <bool (*test)(char32_t)>
Value all_are(Runtime& rt, Value self, const Args& args) {
  none_expected("str method", args);
  const std::string_view s = self.text();
  rt.charge(s.size() / 16);
  for (size_t i = 0; i < s.size(); i = unicode::next(s, i)) {
    if (!test(unicode::decode(s, i))) return Value::boolean(false);
  }
  return Value::boolean(!s.empty());
}

template <bool (*test)(char32_t)>
Value all_are_or_empty(Runtime& rt, Value self, const Args& args) {
  const Value all = all_are<test>(rt, self, args);
  return self.text().empty() ? Value::boolean(true) : all;
}

bool is_alnum(char32_t c) { return unicode::is_alpha(c) || unicode::is_numeric(c); }
bool is_ascii(char32_t c) { return c < 0x80; }

// islower, isupper: at least one cased code point and all cased ones of that case.
template <bool (*test)(char32_t)>
Value cased_are(Runtime& rt, Value self, const Args& args) {
  none_expected("str method", args);
  const std::string_view s = self.text();
  rt.charge(s.size() / 16);
  bool any = false;
  for (size_t i = 0; i < s.size(); i = unicode::next(s, i)) {
    const char32_t c = unicode::decode(s, i);
    if (!unicode::is_cased(c)) continue;
    if (!test(c)) return Value::boolean(false);
    any = true;
  }
  return Value::boolean(any);
}

Value istitle(Runtime&, Value self, const Args& args) {
  none_expected("istitle", args);
  const std::string_view s = self.text();
  bool any = false;
  bool after_cased = false;
  for (size_t i = 0; i < s.size(); i = unicode::next(s, i)) {
    const char32_t c = unicode::decode(s, i);
    if (unicode::is_upper(c) || unicode::is_title(c)) {
      if (after_cased) return Value::boolean(false);
      any = true;
    } else if (unicode::is_lower(c) && !after_cased) {
      return Value::boolean(false);
    }
    after_cased = unicode::is_cased(c);
  }
  return Value::boolean(any);
}

Value isidentifier(Runtime&, Value self, const Args& args) {
  none_expected("isidentifier", args);
  const std::string_view s = self.text();
  for (size_t i = 0; i < s.size(); i = unicode::next(s, i)) {
    const char32_t c = unicode::decode(s, i);
    if (!unicode::is_word(c) || (i == 0 && unicode::is_numeric(c))) return Value::boolean(false);
  }
  return Value::boolean(!s.empty());
}

constexpr std::array kMethods = std::to_array<Method>({
    {"capitalize", transformed<unicode::capitalize>},
    {"casefold", transformed<unicode::casefold>},
    {"center", padded<Side::kBoth>},
    {"count", count},
    {"endswith", has_affix<true>},
    {"expandtabs", expandtabs},
    {"find", find<false>},
    {"format", format_method},
    {"format_map", format_map},
    {"index", index<false>},
    {"isalnum", all_are<is_alnum>},
    {"isalpha", all_are<unicode::is_alpha>},
    {"isascii", all_are_or_empty<is_ascii>},
    {"isdecimal", all_are<unicode::is_decimal>},
    {"isdigit", all_are<unicode::is_digit>},
    {"isidentifier", isidentifier},
    {"islower", cased_are<unicode::is_lower>},
    {"isnumeric", all_are<unicode::is_numeric>},
    {"isprintable", all_are_or_empty<unicode::is_printable>},
    {"isspace", all_are<unicode::is_space>},
    {"istitle", istitle},
    {"isupper", cased_are<unicode::is_upper>},
    {"join", join_method},
    {"ljust", padded<Side::kRight>},
    {"lower", transformed<unicode::lower>},
    {"lstrip", stripped<Side::kLeft>},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"replace", replace_method},
    {"rfind", find<true>},
    {"rindex", index<true>},
    {"rjust", padded<Side::kLeft>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", stripped<Side::kRight>},
    {"split", split<false>},
    {"splitlines", splitlines},
    {"startswith", has_affix<false>},
    {"strip", stripped<Side::kBoth>},
    {"swapcase", transformed<unicode::swapcase>},
    {"title", transformed<unicode::title>},
    {"upper", transformed<unicode::upper>},
    {"zfill", zfill},
});
static_assert(std::ranges::is_sorted(kMethods, {}, &Method::name));

}  // namespace

const Method* find_string_method(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kMethods, name, {}, &Method::name);
  return found != kMethods.end() && found->name == name ? found : nullptr;
}

}  // namespace reprise::jinja
