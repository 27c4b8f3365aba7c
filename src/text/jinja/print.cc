// Containers that hold themselves print as Python prints them ("[...]"): the containers being written are
// kept in a list.
#include "text/jinja/print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

class Writer {
 public:
  Writer(Runtime& rt, Builder& out) : rt_(rt), out_(out) {}

  void repr(Value v) {
    const Nesting nesting(rt_);
    rt_.charge();
    switch (v.kind()) {
      case Kind::kString:
        if (v.safe()) out_.append("Markup(");
        quoted(v.text());
        if (v.safe()) out_.append(')');
        break;
      case Kind::kUndefined:
        out_.append("Undefined");
        break;
      case Kind::kList:
        items(v, "[", "]");
        break;
      case Kind::kTuple:
        items(v, "(", v.list()->size == 1 ? ",)" : ")");
        break;
      case Kind::kView:
        out_.append(type_name(v));
        out_.append('(');
        items(v, "[", "]");
        out_.append(')');
        break;
      case Kind::kDict:
        pairs(v, *v.dict());
        break;
      case Kind::kNamespace:
        out_.append("<Namespace ");
        pairs(v, *v.dict());
        out_.append('>');
        break;
      default:
        scalar(v);
    }
  }

  void scalar(Value v) {
    switch (v.kind()) {
      case Kind::kNone:
        return out_.append("None");
      case Kind::kBool:
        return out_.append(v.as_bool() ? "True" : "False");
      case Kind::kInt:
        return append_int(out_.raw(), v.as_int());
      case Kind::kFloat:
        return append_float(out_.raw(), v.as_double());
      case Kind::kRange: {
        const Range& r = *v.as<Range>();
        out_.append(r.step == 1 ? fmt::format("range({}, {})", r.start, r.stop)
                                : fmt::format("range({}, {}, {})", r.start, r.stop, r.step));
        return;
      }
      default:
        out_.append('<');
        out_.append(type_name(v));
        out_.append(" object>");
    }
  }

 private:
  bool enter(Value v, std::string_view again) {
    if (std::ranges::find(open_, v.identity()) != open_.end()) {
      out_.append(again);
      return false;
    }
    open_.push_back(v.identity());
    return true;
  }

  void items(Value v, std::string_view before, std::string_view after) {
    if (!enter(v, v.is(Kind::kTuple) ? "(...)" : "[...]")) return;
    out_.append(before);
    for (uint32_t i = 0; i < v.list()->size; ++i) {
      if (i > 0) out_.append(", ");
      repr(v.list()->items[i]);
    }
    out_.append(after);
    open_.pop_back();
  }

  void pairs(Value v, const Dict& dict) {
    if (!enter(v, "{...}")) return;
    out_.append('{');
    bool first = true;
    for (uint32_t i = 0; i < dict.end; ++i) {
      if (dict.entries[i].key.is(Kind::kMissing)) continue;
      if (!first) out_.append(", ");
      first = false;
      repr(dict.entries[i].key);
      out_.append(": ");
      repr(dict.entries[i].value);
    }
    out_.append('}');
    open_.pop_back();
  }

  void quoted(std::string_view s) {
    const bool has_single = s.find('\'') != std::string_view::npos;
    const char quote = has_single && s.find('"') == std::string_view::npos ? '"' : '\'';
    out_.append(quote);
    for (size_t i = 0; i < s.size();) {
      const size_t next = unicode::next(s, i);
      const char32_t c = unicode::decode(s, i);
      if (c == static_cast<unsigned char>(quote) || c == '\\') {
        out_.append('\\');
        out_.append(static_cast<char>(c));
      } else if (c == '\n') {
        out_.append("\\n");
      } else if (c == '\r') {
        out_.append("\\r");
      } else if (c == '\t') {
        out_.append("\\t");
      } else if (unicode::is_printable(c)) {
        out_.append(s.substr(i, next - i));
      } else {
        const auto code = static_cast<uint32_t>(c);
        out_.append(code < 0x100     ? fmt::format("\\x{:02x}", code)
                    : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                                     : fmt::format("\\U{:08x}", code));
      }
      i = next;
    }
    out_.append(quote);
  }

  Runtime& rt_;
  Builder& out_;
  std::vector<const void*> open_;
};

}  // namespace

void append_int(std::string& out, __int128 i) {
  std::array<char, 48> digits;
  if (i < 0) out += '-';
  const auto magnitude = static_cast<uint64_t>(i < 0 ? -i : i);  // every value fits (operators.h)
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), magnitude).ptr;
  out.append(digits.data(), end);
}

void append_float(std::string& out, double d) {
  if (std::isnan(d)) {
    out += "nan";
    return;
  }
  if (std::isinf(d)) {
    out += d < 0 ? "-inf" : "inf";
    return;
  }
  std::array<char, 40> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), d, std::chars_format::scientific).ptr;
  std::string_view s(text.data(), static_cast<size_t>(end - text.data()));
  if (s.front() == '-') {
    out += '-';
    s.remove_prefix(1);
  }
  const size_t e = s.find('e');
  std::string digits(s.substr(0, 1));
  if (e > 2) digits += s.substr(2, e - 2);
  int exponent = 0;
  std::from_chars(s.data() + e + (s[e + 1] == '+' ? 2 : 1), s.data() + s.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() <= whole) {
      out.append(digits).append(whole - digits.size(), '0').append(".0");
    } else {
      out.append(digits, 0, whole).append(".").append(digits, whole);
    }
  }
}

void append_repr(Runtime& rt, Value v, Builder& out) { Writer(rt, out).repr(v); }

void append_str(Runtime& rt, Value v, Builder& out) {
  if (v.is_string()) {
    out.append(v.text());
  } else if (!v.is(Kind::kUndefined)) {
    append_repr(rt, v, out);
  }
}

Value to_str(Runtime& rt, Value v) {
  if (v.is_string()) {
    Value plain = Value::string(v.text());
    return v.growable() ? plain.set_growable() : plain;
  }
  Builder out(rt);
  append_str(rt, v, out);
  return out.finish();
}

Value soft_str(Runtime& rt, Value v) { return v.is_string() ? v : to_str(rt, v); }

Value to_repr(Runtime& rt, Value v) {
  Builder out(rt);
  append_repr(rt, v, out);
  return out.finish();
}

Value escape(Runtime& rt, Value v) {
  if (v.safe()) return v;
  const std::string_view s = str(rt, v);
  if (s.find_first_of("&<>'\"") == std::string_view::npos) return Value::string(s, true);
  Builder out(rt);
  for (const char c : s) {
    switch (c) {
      case '&':
        out.append("&amp;");
        break;
      case '<':
        out.append("&lt;");
        break;
      case '>':
        out.append("&gt;");
        break;
      case '\'':
        out.append("&#39;");
        break;
      case '"':
        out.append("&#34;");
        break;
      default:
        out.append(c);
    }
  }
  return out.finish(true);
}

}  // namespace reprise::jinja
