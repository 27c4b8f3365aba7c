// Both languages parse a field into one FieldSpec and share the writers below. Widths and precisions come
// from the template, so they are checked against the heap's budget before anything is built.
#include "text/jinja/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "text/jinja/attributes.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

constexpr uint32_t kMaxPrecision = 100'000;

struct FieldSpec {
  std::string_view fill = " ";
  char align = 0;  // < > ^ = or 0: by type
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  uint32_t width = 0;
  char grouping = 0;
  std::optional<uint32_t> precision;
  char type = 0;
};

uint32_t parse_number(std::string_view spec, size_t& i, Runtime& rt) {
  uint64_t n = 0;
  while (i < spec.size() && spec[i] >= '0' && spec[i] <= '9') {
    n = n * 10 + static_cast<uint64_t>(spec[i++] - '0');
    if (n > INT32_MAX) exceed("a width or precision in a format is too large");
  }
  rt.heap.require(n);
  return static_cast<uint32_t>(n);
}

FieldSpec parse_spec(Runtime& rt, std::string_view spec) {
  FieldSpec f;
  size_t i = 0;
  const auto is_align = [&](size_t at) {
    return at < spec.size() && std::string_view("<>=^").find(spec[at]) != std::string_view::npos;
  };
  if (!spec.empty()) {
    const size_t after_fill = unicode::next(spec, 0);
    if (is_align(after_fill)) {
      f.fill = spec.substr(0, after_fill);
      f.align = spec[after_fill];
      i = after_fill + 1;
    } else if (is_align(0)) {
      f.align = spec[0];
      i = 1;
    }
  }
  const bool chosen_align = i > 0;
  if (i < spec.size() && (spec[i] == '+' || spec[i] == '-' || spec[i] == ' ')) f.sign = spec[i++];
  if (i < spec.size() && spec[i] == '#') {
    f.alternate = true;
    ++i;
  }
  if (i < spec.size() && spec[i] == '0') {
    f.zero = !chosen_align;
    if (f.zero) f.fill = "0";
    ++i;
  }
  f.width = parse_number(spec, i, rt);
  if (i < spec.size() && (spec[i] == ',' || spec[i] == '_')) f.grouping = spec[i++];
  if (i < spec.size() && spec[i] == '.') {
    const size_t start = ++i;
    f.precision = parse_number(spec, i, rt);
    if (i == start) raise("Format specifier missing precision");
  }
  if (i < spec.size()) f.type = spec[i++];
  if (i != spec.size()) raise("Invalid format specifier '{}'", spec);
  return f;
}

void pad(Builder& out, std::string_view body, const FieldSpec& f, char default_align) {
  const size_t size = unicode::length(body);
  const size_t missing = f.width > size ? f.width - size : 0;
  const char align = f.align != 0 ? f.align : default_align;
  const size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  for (size_t k = 0; k < before; ++k) out.append(f.fill);
  out.append(body);
  for (size_t k = before; k < missing; ++k) out.append(f.fill);
}

// Writes sign, prefix (0x), digits and the rest (fraction, exponent) with grouping and numeric alignment.
void write_number(Builder& out, const FieldSpec& f, bool negative, std::string_view prefix,
                  std::string digits, std::string_view rest) {
  std::string head(negative ? "-" : f.sign == '-' ? "" : std::string(1, f.sign));
  head += prefix;
  const bool zero_fill = f.zero || (f.align == '=' && f.fill == "0");
  if (f.grouping != 0) {
    const size_t every = f.type == 'x' || f.type == 'X' || f.type == 'b' || f.type == 'o' ? 4 : 3;
    const size_t taken = head.size() + rest.size();
    const size_t room = zero_fill && f.width > taken ? f.width - taken : 0;
    std::string grouped;  // from the right
    for (size_t n = 0; n < digits.size() || grouped.size() < room; ++n) {
      if (n > 0 && n % every == 0) grouped += f.grouping;
      grouped += n < digits.size() ? digits[digits.size() - 1 - n] : '0';
    }
    std::ranges::reverse(grouped);
    digits = std::move(grouped);
  }
  const size_t size = head.size() + digits.size() + rest.size();
  if ((f.zero || f.align == '=') && f.width > size) {
    out.append(head);
    for (size_t k = size; k < f.width; ++k) out.append(f.fill);
    out.append(digits);
    out.append(rest);
    return;
  }
  head += digits;
  head += rest;
  pad(out, head, f, '>');
}

void write_integer(Runtime& rt, Value v, const FieldSpec& f, Builder& out) {
  const __int128 i = v.as_int();
  if (f.type == 'c') {
    if (i < 0 || i > 0x10FFFF || (i >= 0xD800 && i < 0xE000)) raise("%c arg not in range(0x110000)");
    std::string text;
    unicode::append(text, static_cast<char32_t>(i));
    return pad(out, text, f, '<');
  }
  int base = 10;
  std::string_view prefix;
  switch (f.type) {
    case 'x':
    case 'X':
      base = 16;
      prefix = f.type == 'x' ? "0x" : "0X";
      break;
    case 'o':
      base = 8;
      prefix = "0o";
      break;
    case 'b':
      base = 2;
      prefix = "0b";
      break;
    default:
      break;
  }
  std::array<char, 140> text;
  const auto magnitude = static_cast<uint64_t>(i < 0 ? -i : i);
  const auto end = std::to_chars(text.data(), text.data() + text.size(), magnitude, base).ptr;
  std::string digits(text.data(), end);
  if (f.type == 'X')
    std::ranges::transform(digits, digits.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
  rt.heap.require(f.width);
  write_number(out, f, i < 0, f.alternate ? prefix : "", std::move(digits), "");
}

void write_float(Runtime& rt, double d, const FieldSpec& f, Builder& out) {
  const uint32_t precision = f.precision.value_or(6);
  if (precision > kMaxPrecision) exceed("a precision in a format is too large (at most {})", kMaxPrecision);
  rt.heap.require(f.width);
  const bool negative = std::signbit(d) && !std::isnan(d);
  const double a = std::abs(d);
  std::string text;
  if (!std::isfinite(a)) {
    text = std::isnan(a) ? "nan" : "inf";
    if (f.type == 'F' || f.type == 'E' || f.type == 'G') text = std::isnan(a) ? "NAN" : "INF";
    if (f.type == '%') text += '%';
    FieldSpec plain = f;
    plain.grouping = 0;
    return write_number(out, plain, negative, "", "", text);
  }
  switch (f.type) {
    case 'e':
      text = f.alternate ? fmt::format("{:#.{}e}", a, precision) : fmt::format("{:.{}e}", a, precision);
      break;
    case 'E':
      text = f.alternate ? fmt::format("{:#.{}E}", a, precision) : fmt::format("{:.{}E}", a, precision);
      break;
    case 'f':
    case 'F':
      text = f.alternate ? fmt::format("{:#.{}f}", a, precision) : fmt::format("{:.{}f}", a, precision);
      break;
    case '%':
      text = fmt::format("{:.{}f}%", a * 100, precision);
      break;
    case 'g':
    case 'n':
      text = f.alternate ? fmt::format("{:#.{}g}", a, precision) : fmt::format("{:.{}g}", a, precision);
      break;
    case 'G':
      text = f.alternate ? fmt::format("{:#.{}G}", a, precision) : fmt::format("{:.{}G}", a, precision);
      break;
    default:
      if (f.precision) {
        text = fmt::format("{:.{}g}", a, std::max<uint32_t>(precision, 1));
        if (text.find_first_of(".e") == std::string::npos) {
          // Python writes 3.0, and turns to an exponent one digit earlier than 'g' when nothing follows the
          // point.
          text = text.size() >= std::max<uint32_t>(precision, 1) && text != "0"
                     ? fmt::format("{:.{}e}", a, std::max<uint32_t>(precision, 1) - 1)
                     : text + ".0";
        }
      } else {
        append_float(text, a);
      }
  }
  const size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  write_number(out, f, negative, "", text.substr(0, whole), std::string_view(text).substr(whole));
}

bool is_float_type(char type) {
  return type != 0 && std::string_view("eEfFgG%").find(type) != std::string_view::npos;
}

// ---- printf style ----

class PercentFormat {
 public:
  PercentFormat(Runtime& rt, Value format, Value arguments)
      : rt_(rt), format_(format.text()), escape_(format.safe()), arguments_(arguments), out_(rt) {}

  Value run() {
    for (size_t i = 0; i < format_.size();) {
      const size_t at = format_.find('%', i);
      out_.append(format_.substr(i, at == std::string_view::npos ? at : at - i));
      if (at == std::string_view::npos) break;
      i = field(at + 1);
    }
    const bool any_number =
        !arguments_.is(Kind::kTuple) && (arguments_.is(Kind::kDict) || arguments_.is(Kind::kList) ||
                                         arguments_.is(Kind::kRange) || arguments_.is(Kind::kUndefined));
    if (!any_number && used_ < available()) raise("not all arguments converted during string formatting");
    return out_.finish(escape_);
  }

 private:
  size_t available() const { return arguments_.is(Kind::kTuple) ? arguments_.list()->size : 1; }

  Value take() {
    if (used_ >= available()) raise("not enough arguments for format string");
    const size_t index = used_++;
    return arguments_.is(Kind::kTuple) ? arguments_.list()->items[index] : arguments_;
  }

  char peek(size_t i) const {
    if (i >= format_.size()) raise("incomplete format");
    return format_[i];
  }

  int64_t star() {
    const Value v = take();
    if (!v.is_integral()) raise("* wants int");
    const int64_t n = to_index(v);
    rt_.heap.require(static_cast<size_t>(std::abs(std::max<int64_t>(n, -INT64_MAX))));
    if (std::abs(std::max<int64_t>(n, -INT64_MAX)) > INT32_MAX) exceed("a width in a format is too large");
    return n;
  }

  size_t field(size_t i) {
    FieldSpec f;
    std::optional<Value> named;
    if (peek(i) == '(') {
      const size_t start = ++i;
      for (int open = 1; open > 0; ++i) {
        if (i >= format_.size()) raise("incomplete format key");
        open += format_[i] == '(' ? 1 : format_[i] == ')' ? -1 : 0;
      }
      if (!arguments_.is(Kind::kDict)) raise("format requires a mapping");
      const std::string_view key = format_.substr(start, i - 1 - start);
      const Value* found = arguments_.dict()->find(key);
      if (found == nullptr) raise("KeyError: '{}'", key);
      named = *found;
      used_ = std::max<size_t>(used_, 1);
    }
    bool left = false;
    for (; std::string_view("#0- +").find(peek(i)) != std::string_view::npos; ++i) {
      switch (format_[i]) {
        case '#':
          f.alternate = true;
          break;
        case '0':
          f.zero = true;
          break;
        case '-':
          left = true;
          break;
        case '+':
          f.sign = '+';
          break;
        default:
          if (f.sign != '+') f.sign = ' ';
      }
    }
    if (peek(i) == '*') {
      const int64_t width = star();
      left |= width < 0;
      f.width = static_cast<uint32_t>(std::abs(width));
      ++i;
    } else {
      f.width = parse_number(format_, i, rt_);
    }
    if (peek(i) == '.') {
      ++i;
      if (peek(i) == '*') {
        f.precision = static_cast<uint32_t>(std::max<int64_t>(star(), 0));
        ++i;
      } else {
        f.precision = parse_number(format_, i, rt_);
      }
    }
    if (peek(i) == 'h' || peek(i) == 'l' || peek(i) == 'L') ++i;
    const char type = peek(i);
    if (static_cast<unsigned char>(type) >= 0x80) {
      raise("unsupported format character '{}'", format_.substr(i, unicode::next(format_, i) - i));
    }
    if (type == '%') {
      out_.append('%');
      return i + 1;
    }
    if (left) f.zero = false;
    if (left) f.align = '<';
    f.fill = f.zero ? "0" : " ";
    write(named ? *named : take(), type, f);
    return i + 1;
  }

  void write(Value v, char type, FieldSpec f) {
    switch (type) {
      case 's':
      case 'r':
      case 'a': {
        std::string_view text;
        if (type == 's') {
          text = escape_ ? escape(rt_, v).text() : str(rt_, v);
        } else {
          text = to_repr(rt_, v).text();
          if (escape_) text = escape(rt_, Value::string(text)).text();
        }
        if (f.precision) text = text.substr(0, unicode::offset(text, *f.precision));
        f.fill = " ";
        pad(out_, text, f, '>');
        return;
      }
      case 'c': {
        f.fill = " ";
        if (v.is_string() && unicode::length(v.text()) == 1) return pad(out_, v.text(), f, '>');
        if (!v.is_integral()) raise("%c requires int or char");
        f.type = 'c';
        if (f.align == 0) f.align = '>';
        return write_integer(rt_, v, f, out_);
      }
      case 'd':
      case 'i':
      case 'u':
        if (v.is(Kind::kFloat)) {
          const double d = v.as_double();
          if (!std::isfinite(d)) raise("cannot convert float to integer");
          if (std::abs(d) >= 1.8e19) exceed("an integer of the template is too large");
          v = from_int(static_cast<__int128>(d));
        }
        if (!v.is_integral()) raise("%{} format: a real number is required, not {}", type, type_name(v));
        return integer(v, f, 0);
      case 'x':
      case 'X':
      case 'o':
        if (!v.is_integral()) raise("%{} format: an integer is required, not {}", type, type_name(v));
        return integer(v, f, type);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!v.is_number()) raise("must be real number, not {}", type_name(v));
        f.type = type;
        return write_float(rt_, to_double(v), f, out_);
      default:
        raise("unsupported format character '{}'", type);
    }
  }

  // A precision of an integer is a minimum count of digits.
  void integer(Value v, FieldSpec f, char type) {
    f.type = type;
    if (!f.precision) return write_integer(rt_, v, f, out_);
    FieldSpec digits;
    digits.type = type;
    digits.alternate = f.alternate;
    digits.sign = f.sign;
    digits.zero = true;
    digits.fill = "0";
    const size_t extra = (v.as_int() < 0 || f.sign != '-') + (f.alternate ? 2 : 0);
    digits.width = *f.precision + static_cast<uint32_t>(extra);
    Builder body(rt_);
    write_integer(rt_, v, digits, body);
    f.fill = " ";
    pad(out_, body.raw(), f, '>');
  }

  Runtime& rt_;
  std::string_view format_;
  bool escape_;
  const Value arguments_;
  Builder out_;
  size_t used_ = 0;
};

// ---- str.format ----

class BraceFormat {
 public:
  BraceFormat(Runtime& rt, Value format, const Args& args) : rt_(rt), format_(format), args_(args) {}

  Value run() {
    Builder out(rt_);
    expand(format_.text(), out, 2);
    return out.finish(format_.safe());
  }

 private:
  void expand(std::string_view s, Builder& out, int levels) {
    if (levels < 0) raise("Max string recursion exceeded");
    for (size_t i = 0; i < s.size();) {
      const size_t at = s.find_first_of("{}", i);
      out.append(s.substr(i, at == std::string_view::npos ? at : at - i));
      if (at == std::string_view::npos) return;
      if (at + 1 < s.size() && s[at + 1] == s[at]) {
        out.append(s[at]);
        i = at + 2;
        continue;
      }
      if (s[at] == '}') raise("Single '}}' encountered in format string");
      size_t end = at + 1;
      for (int open = 1; open > 0; ++end) {
        if (end >= s.size()) raise("expected '}}' before end of string");
        open += s[end] == '{' ? 1 : s[end] == '}' ? -1 : 0;
      }
      field(s.substr(at + 1, end - at - 2), out, levels);
      i = end;
    }
  }

  void field(std::string_view s, Builder& out, int levels) {
    rt_.charge();
    size_t end = 0;  // of the name: brackets may hold ':' and '!'
    for (bool bracket = false; end < s.size() && (bracket || (s[end] != ':' && s[end] != '!')); ++end) {
      if (s[end] == '[') bracket = true;
      if (s[end] == ']') bracket = false;
    }
    Value v = lookup(s.substr(0, end));
    std::string_view rest = s.substr(end);
    if (rest.starts_with('!')) {
      if (rest.size() < 2) raise("end of string while looking for conversion specifier");
      const char conversion = rest[1];
      if (conversion == 'r' || conversion == 'a') {
        v = to_repr(rt_, v);
      } else if (conversion == 's') {
        v = to_str(rt_, v);
      } else {
        raise("Unknown conversion specifier '{}'", rest.substr(1, unicode::next(rest, 1) - 1));
      }
      rest.remove_prefix(2);
      if (!rest.empty() && rest[0] != ':') raise("expected ':' after conversion specifier");
    }
    Builder spec(rt_);
    if (!rest.empty()) expand(rest.substr(1), spec, levels - 1);
    if (!format_.safe()) return format_spec(rt_, v, spec.raw(), out);
    Builder plain(rt_);
    format_spec(rt_, v, spec.raw(), plain);
    out.append(v.safe() ? std::string_view(plain.raw()) : escape(rt_, plain.finish()).text());
  }

  Value lookup(std::string_view name) {
    const size_t head = std::min(name.find_first_of(".["), name.size());
    Value v = argument(name.substr(0, head));
    for (size_t i = head; i < name.size();) {
      if (name[i] == '.') {
        const size_t end = std::min(name.find_first_of(".[", i + 1), name.size());
        v = attribute(rt_, v, name.substr(i + 1, end - i - 1));
        i = end;
      } else if (name[i] == '[') {
        const size_t end = name.find(']', i);
        if (end == std::string_view::npos) raise("Missing ']' in format string");
        const std::string_view key = name.substr(i + 1, end - i - 1);
        int64_t index = 0;
        const auto parsed = std::from_chars(key.data(), key.data() + key.size(), index);
        const bool number = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size();
        v = item(rt_, v, number ? Value::integer(index) : Value::string(key));
        i = end + 1;
      } else {
        raise("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return v;
  }

  Value argument(std::string_view name) {
    uint32_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    if (name.empty() || (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size())) {
      const bool automatic = name.empty();
      if (automatic ? numbered_ : next_ > 0) raise("cannot mix automatic and manual field numbering");
      if (automatic) {
        index = next_++;
      } else {
        numbered_ = true;
      }
      if (index >= args_.positional.size()) raise("Replacement index {} out of range", index);
      return args_.positional[index];
    }
    for (const NamedArg& arg : args_.named) {
      if (arg.name == name) return arg.value;
    }
    raise("KeyError: '{}'", name);
  }

  Runtime& rt_;
  const Value format_;
  const Args& args_;
  uint32_t next_ = 0;
  bool numbered_ = false;
};

}  // namespace

void format_spec(Runtime& rt, Value v, std::string_view spec, Builder& out) {
  if (spec.empty()) return append_str(rt, v, out);
  if (!v.is_string() && !v.is_number()) {
    raise("unsupported format string passed to {}.__format__", type_name(v));
  }
  FieldSpec f = parse_spec(rt, spec);
  if (v.is_string()) {
    if (f.type != 0 && f.type != 's') raise("Unknown format code '{}' for object of type 'str'", f.type);
    if (f.sign != '-' || f.grouping != 0 || f.alternate || f.align == '=') {
      raise("the format specifier '{}' is not allowed for a string", spec);
    }
    std::string_view text = v.text();
    if (f.precision) text = text.substr(0, unicode::offset(text, *f.precision));
    return pad(out, text, f, '<');
  }
  if (v.is(Kind::kFloat) || is_float_type(f.type)) {
    if (f.type != 0 && f.type != 'n' && !is_float_type(f.type)) {
      raise("Unknown format code '{}' for object of type 'float'", f.type);
    }
    return write_float(rt, to_double(v), f, out);
  }
  if (f.type != 0 && std::string_view("bcdoxXn").find(f.type) == std::string_view::npos) {
    raise("Unknown format code '{}' for object of type 'int'", f.type);
  }
  if (f.precision) raise("Precision not allowed in integer format specifier");
  write_integer(rt, v, f, out);
}

Value format_percent(Runtime& rt, Value format, Value arguments) {
  return PercentFormat(rt, format, arguments).run();
}

Value format_braces(Runtime& rt, Value format, const Args& args) {
  return BraceFormat(rt, format, args).run();
}

}  // namespace reprise::jinja
