// Filters over text. A value that is no string is turned into one first, as markupsafe.soft_str does it.
#include <algorithm>
#include <array>
#include <optional>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/format.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/split.h"
#include "text/jinja/text_operations.h"
#include "text/jinja/unicode.h"
#include "text/jinja/word_wrap.h"

namespace reprise::jinja {
namespace {

bool flag(const Value* v) { return v != nullptr && truthy(*v); }

std::string_view need_string(Value v, std::string_view filter) {
  if (v.is_string()) return v.text();
  if (v.is(Kind::kUndefined)) raise_undefined(v);
  raise("{}() needs a str, not {}", filter, type_name(v));
}

template <std::string (*transform)(std::string_view)>
Value transformed(Runtime& rt, const Args& args) {
  const Value s = soft_str(rt, bind<1>("filter", args, {"s"}, 1).at(0));
  rt.charge(s.text().size() / 16);
  rt.heap.require(s.text().size(), 2);
  return rt.heap.derived(transform(s.text()), s, s.safe());
}

// Each word in lower case with its first letter in upper case; words start after white space and - ( { [ <.
std::string title_words(std::string_view s) {
  std::string out;
  size_t start = 0;
  const auto word = [&](size_t end) {
    const std::string_view w = s.substr(start, end - start);
    if (w.empty()) return;
    const size_t head = unicode::next(w, 0);
    out += unicode::upper(w.substr(0, head));
    out += unicode::lower(w.substr(head));
  };
  for (size_t i = 0; i < s.size();) {
    const size_t next = unicode::next(s, i);
    const char32_t c = unicode::decode(s, i);
    if (unicode::is_space(c) ||
        (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos)) {
      word(i);
      out += s.substr(i, next - i);
      start = next;
    }
    i = next;
  }
  word(s.size());
  return out;
}

Value title(Runtime& rt, const Args& args) {
  const Value s = soft_str(rt, bind<1>("title", args, {"s"}, 1).at(0));
  rt.charge(s.text().size() / 16);
  return rt.heap.derived(title_words(s.text()), s);
}

Value center(Runtime& rt, const Args& args) {
  const auto a = bind<2>("center", args, {"value", "width"}, 1);
  return pad_to(rt, soft_str(rt, a.at(0)), a[1] ? to_index(a.at(1)) : 80, " ", Side::kBoth);
}

Value trim(Runtime& rt, const Args& args) {
  const auto a = bind<2>("trim", args, {"value", "chars"}, 1);
  const Value s = soft_str(rt, a.at(0));
  rt.charge(s.text().size() / 256);
  std::optional<std::string_view> characters;
  if (a.given(1)) characters = need_string(a.at(1), "trim");
  return Value::string(strip(s.text(), Side::kBoth, characters), s.safe());
}

Value replace_filter(Runtime& rt, const Args& args) {
  const auto a = bind<4>("replace", args, {"s", "old", "new", "count"}, 3);
  const int64_t limit = a.given(3) ? to_index(a.at(3)) : kNoLimit;
  return replace(rt, str(rt, a.at(0)), str(rt, a.at(1)), str(rt, a.at(2)), limit, false);
}

// ---- escaping ----

Value escape_filter(Runtime& rt, const Args& args) {
  return escape(rt, bind<1>("escape", args, {""}, 1).at(0));
}

Value forceescape(Runtime& rt, const Args& args) {
  return escape(rt, to_str(rt, bind<1>("forceescape", args, {"value"}, 1).at(0)));
}

Value safe(Runtime& rt, const Args& args) {
  return Value::string(str(rt, bind<1>("safe", args, {"value"}, 1).at(0)), true);
}

Value string(Runtime& rt, const Args& args) { return soft_str(rt, bind<1>("string", args, {"s"}, 1).at(0)); }

// The text of a character reference such as "lt" or "#x3c"; nothing if unknown.
std::optional<std::string> character_reference(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"amp", "&"},         {"lt", "<"},         {"gt", ">"},         {"quot", "\""},
      {"apos", "'"},        {"nbsp", "\u00A0"},  {"copy", "\u00A9"},  {"reg", "\u00AE"},
      {"hellip", "\u2026"}, {"mdash", "\u2014"}, {"ndash", "\u2013"}, {"euro", "\u20AC"}};
  for (const auto& [known, text] : kNamed) {
    if (name == known) return std::string(text);
  }
  if (!name.starts_with('#') || name.size() < 2) return std::nullopt;
  const bool hex = (name[1] | 32) == 'x';
  const std::string digits(name.substr(hex ? 2 : 1));
  if (digits.empty() || digits.size() > 8 ||
      digits.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") != std::string::npos) {
    return std::nullopt;
  }
  const unsigned long code = std::stoul(digits, nullptr, hex ? 16 : 10);
  std::string out;
  const bool valid = code != 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  unicode::append(out, valid ? static_cast<char32_t>(code) : char32_t{0xFFFD});
  return out;
}

Value striptags(Runtime& rt, const Args& args) {
  const std::string_view s = str(rt, bind<1>("striptags", args, {"value"}, 1).at(0));
  rt.charge(s.size() / 8);
  const auto without = [](std::string_view text, std::string_view open, std::string_view close) {
    std::string out;
    while (true) {
      const size_t start = text.find(open);
      const size_t end = start == std::string_view::npos ? start : text.find(close, start);
      if (end == std::string_view::npos) return out.append(text);
      out.append(text.substr(0, start));
      text.remove_prefix(end + close.size());
    }
  };
  const std::string plain = without(without(s, "<!--", "-->"), "<", ">");
  Builder out(rt);
  bool first = true;
  for (const std::string_view word : split_words(plain)) {
    if (!first) out.append(' ');
    first = false;
    for (size_t i = 0; i < word.size();) {
      const size_t end = word[i] == '&' ? word.find(';', i) : std::string_view::npos;
      const auto text =
          end == std::string_view::npos ? std::nullopt : character_reference(word.substr(i + 1, end - i - 1));
      out.append(text ? std::string_view(*text) : word.substr(i, 1));
      i = text ? end + 1 : i + 1;
    }
  }
  return out.finish();
}

Value xmlattr(Runtime& rt, const Args& args) {
  const auto a = bind<2>("xmlattr", args, {"d", "autospace"}, 1);
  if (!a.at(0).is(Kind::kDict)) raise("'{}' object has no attribute 'items'", type_name(a.at(0)));
  const Dict& dict = *a.at(0).dict();
  Builder out(rt);
  for (uint32_t i = 0; i < dict.end; ++i) {
    const auto& [key, value, hash] = dict.entries[i];
    if (key.is(Kind::kMissing) || value.is(Kind::kNone) || value.is(Kind::kUndefined)) continue;
    if (need_string(key, "xmlattr").find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      raise("Invalid character in attribute name: '{}'", key.text());
    }
    if (!out.empty() || a[1] == nullptr || truthy(a.at(1))) out.append(' ');
    out.append(escape(rt, key).text());
    out.append("=\"");
    out.append(escape(rt, value).text());
    out.append('"');
  }
  return out.finish();
}

void quote_url(Builder& out, std::string_view s, bool query) {
  for (const char c : s) {
    const bool alnum = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    if (alnum || std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !query)) {
      out.append(c);
    } else if (c == ' ' && query) {
      out.append('+');
    } else {
      out.append(fmt::format("%{:02X}", static_cast<unsigned char>(c)));
    }
  }
}

Value urlencode(Runtime& rt, const Args& args) {
  const auto a = bind<1>("urlencode", args, {"value"}, 1);
  const Value& v = a.at(0);
  Builder out(rt);
  if (v.is_string() || !is_iterable(v)) {
    quote_url(out, str(rt, v), false);
    return out.finish();
  }
  const Value pairs = v.is(Kind::kDict) ? dict_view(rt, *v.dict(), ViewKind::kItems) : v;
  const Sequence s = iterate(rt, pairs);
  for (size_t i = 0; i < s.size(); ++i) {
    const Sequence pair = iterate(rt, s.at(i));
    if (pair.size() != 2) raise("urlencode needs pairs, not {} values", pair.size());
    if (i > 0) out.append('&');
    quote_url(out, str(rt, pair.at(0)), true);
    out.append('=');
    quote_url(out, str(rt, pair.at(1)), true);
  }
  return out.finish();
}

// ---- layout ----

Value indent(Runtime& rt, const Args& args) {
  const auto a = bind<4>("indent", args, {"s", "width", "first", "blank"}, 1);
  const std::string_view s = need_string(a.at(0), "indent");
  rt.charge(s.size() / 32);
  std::string_view indention;
  if (a[1] && a.at(1).is_string()) {
    indention = a.at(1).text();
  } else {
    const int64_t width = a[1] ? std::max<int64_t>(to_index(a.at(1)), 0) : 4;
    rt.heap.require(static_cast<size_t>(width));
    indention = rt.heap.string(std::string(static_cast<size_t>(width), ' ')).text();
  }
  std::vector<std::string_view> lines = split_lines(s);
  // As if a line end were added before the lines are split.
  if (lines.empty() || (s.size() > 0 && lines.back().data() + lines.back().size() != s.data() + s.size())) {
    lines.push_back("");
  }
  Builder out(rt);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append('\n');
    const bool skip = i == 0 ? !flag(a[2]) : lines[i].empty() && !flag(a[3]);
    if (!skip) out.append(indention);
    out.append(lines[i]);
  }
  return out.finish(a.at(0).safe());
}

Value truncate(Runtime& rt, const Args& args) {
  const auto a = bind<5>("truncate", args, {"s", "length", "killwords", "end", "leeway"}, 1);
  const int64_t length = a[1] ? to_index(a.at(1)) : 255;
  const std::string_view end = a[3] ? need_string(a.at(3), "truncate") : "...";
  const int64_t leeway = a.given(4) ? to_index(a.at(4)) : 5;
  const auto end_length = static_cast<int64_t>(unicode::length(end));
  if (length < end_length) raise("expected length >= {}, got {}", end_length, length);
  if (leeway < 0) raise("expected leeway >= 0, got {}", leeway);
  // Whatever has a length goes through when it is short enough; only text can be cut.
  const auto size = static_cast<int64_t>(jinja::length(a.at(0)));
  if (size <= length || size - length <= leeway) return a.at(0);
  const std::string_view s = need_string(a.at(0), "truncate");
  std::string_view kept = s.substr(0, unicode::offset(s, static_cast<size_t>(length - end_length)));
  if (!flag(a[2])) kept = kept.substr(0, kept.rfind(' '));
  return rt.heap.concat(Value::string(kept, a.at(0).safe()), end);
}

Value wordwrap(Runtime& rt, const Args& args) {
  const auto a =
      bind<5>("wordwrap", args, {"s", "width", "break_long_words", "wrapstring", "break_on_hyphens"}, 1);
  const std::string_view s = need_string(a.at(0), "wordwrap");
  if (s.empty()) return a.at(0);  // no line, so nothing asks what the width is
  rt.charge(s.size() / 2);
  const int64_t width = a[1] ? to_index(a.at(1)) : 79;
  if (width <= 0) raise("invalid width {} (must be > 0)", width);
  const std::string_view separator = a.given(3) ? need_string(a.at(3), "wordwrap") : "\n";
  const bool break_words = a[2] == nullptr || truthy(a.at(2));
  const bool break_hyphens = a[4] == nullptr || truthy(a.at(4));
  Builder out(rt);
  bool first = true;
  for (const std::string_view line : split_lines(s)) {
    if (!first) out.append(separator);
    first = false;
    const auto wrapped = wrap_line(line, static_cast<size_t>(width), break_words, break_hyphens);
    for (size_t i = 0; i < wrapped.size(); ++i) {
      if (i > 0) out.append(separator);
      out.append(wrapped[i]);
    }
  }
  return out.finish();
}

Value wordcount(Runtime& rt, const Args& args) {
  const Value s = soft_str(rt, bind<1>("wordcount", args, {"s"}, 1).at(0));
  const std::string_view text = s.text();
  rt.charge(text.size() / 16);
  int64_t words = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size(); i = unicode::next(text, i)) {
    const bool word = unicode::is_word(unicode::decode(text, i));
    words += word && !inside;
    inside = word;
  }
  return Value::integer(words);
}

// The % operator with the filter's arguments: positional ones as a tuple, or named ones as a dict.
Value format(Runtime& rt, const Args& args) {
  if (args.positional.empty()) raise("format() needs a value");
  const auto more = args.positional.subspan(1);
  if (!more.empty() && !args.named.empty()) {
    raise("can't handle positional and keyword arguments at the same time");
  }
  const Value s = soft_str(rt, args.positional[0]);
  if (args.named.empty()) return format_percent(rt, s, new_tuple(rt, more));
  const Value named = new_dict(rt);
  for (const NamedArg& arg : args.named) named.dict()->set(rt, arg.name, arg.value);
  return format_percent(rt, s, named);
}

constexpr std::array kFilters = std::to_array<NamedBuiltin>({
    {"capitalize", transformed<unicode::capitalize>},
    {"center", center},
    {"e", escape_filter},
    {"escape", escape_filter},
    {"forceescape", forceescape},
    {"format", format},
    {"indent", indent},
    {"lower", transformed<unicode::lower>},
    {"replace", replace_filter},
    {"safe", safe},
    {"string", string},
    {"striptags", striptags},
    {"title", title},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", transformed<unicode::upper>},
    {"urlencode", urlencode},
    {"wordcount", wordcount},
    {"wordwrap", wordwrap},
    {"xmlattr", xmlattr},
});

}  // namespace

std::span<const NamedBuiltin> text_filters() { return kFilters; }

}  // namespace reprise::jinja
