// The writer mirrors json.dumps: floats by repr, keys of None/bool/number as text, anything without a JSON
// form an error.
#include "text/jinja/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

// What follows the backslash of the bytes that have a short form; 0 of those that have none.
constexpr std::array<char, 256> kLetters = [] {
  std::array<char, 256> letters{};
  constexpr std::string_view kNamed = "\"\\\b\t\n\f\r", kLetter = "\"\\btnfr";
  for (size_t i = 0; i < kNamed.size(); ++i) letters[static_cast<uint8_t>(kNamed[i])] = kLetter[i];
  return letters;
}();

// How a character without a short form is written that does not stand for itself. Returns the end of what it
// wrote.
char* escape(char32_t c, char* to) {
  const auto code = [&](uint32_t unit) { to = fmt::format_to(to, "\\u{:04x}", unit); };
  if (c < 0x10000) {
    code(c);
  } else {
    code(0xD800 + ((c - 0x10000) >> 10));
    code(0xDC00 + (c & 0x3FF));
  }
  return to;
}

constexpr size_t kLongestEscape = 6;  // for each byte of the text
constexpr size_t kWord = sizeof(uint64_t);

// Writes text as it stands inside quotes; there is room for kLongestEscape bytes for each of its own, and a
// word. Eight bytes are looked at together: one is below n if subtracting n borrows from its high bit, and
// the lowest for which it does is so indeed.
char* escape(std::string_view s, bool ensure_ascii, char* to) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kOnes = 0x0101010101010101;
  const auto below = [](uint64_t bytes, uint64_t n) { return (bytes - kOnes * n) & ~bytes; };
  for (size_t i = 0; i < s.size();) {
    uint64_t bytes = 0;
    const size_t count = std::min(kWord, s.size() - i);
    std::memcpy(&bytes, s.data() + i, count);
    std::memcpy(to, &bytes, kWord);
    uint64_t special =
        below(bytes, 0x20) | below(bytes ^ (kOnes * '"'), 1) | below(bytes ^ (kOnes * '\\'), 1);
    if (ensure_ascii) special |= bytes;
    const size_t plain = std::min<size_t>(std::countr_zero(special & (kOnes * 0x80)) / 8, count);
    i += plain;
    to += plain;
    if (plain == count) continue;
    if (const char letter = kLetters[static_cast<uint8_t>(s[i])]) {
      *to++ = '\\';
      *to++ = letter;
      ++i;
      continue;
    }
    to = escape(unicode::decode(s, i), to);
    i = unicode::next(s, i);
  }
  return to;
}

class JsonWriter {
 public:
  JsonWriter(Runtime& rt, const JsonStyle& style) : rt_(rt), style_(style), out_(rt) {}

  void write(Value v) {
    const Nesting nesting(rt_);
    rt_.charge();
    switch (v.kind()) {
      case Kind::kNone:
        return out_.append("null");
      case Kind::kBool:
        return out_.append(v.as_bool() ? "true" : "false");
      case Kind::kInt:
        return append_int(out_.raw(), v.as_int());
      case Kind::kFloat:
        return number(v.as_double());
      case Kind::kString:
        return quoted(v.text());
      case Kind::kList:
      case Kind::kTuple:
        return array(*v.list());
      case Kind::kDict:
        return object(*v.dict());
      default:
        raise("Object of type {} is not JSON serializable", type_name(v));
    }
  }
  Value finish() { return out_.finish(); }

 private:
  void number(double d) {
    if (std::isnan(d)) return out_.append("NaN");
    if (std::isinf(d)) return out_.append(d < 0 ? "-Infinity" : "Infinity");
    append_float(out_.raw(), d);
  }

  void line() {
    out_.append('\n');
    for (uint32_t i = 0; i < level_; ++i) out_.append(style_.indent);
  }

  void open(char bracket) {
    out_.append(bracket);
    ++level_;
    if (style_.pretty) line();
  }
  void separate() {
    out_.append(style_.item_separator);
    if (style_.pretty) line();
  }
  void close(char bracket) {
    --level_;
    if (style_.pretty) line();
    out_.append(bracket);
  }

  void array(const List& list) {
    if (list.size == 0) return out_.append("[]");
    open('[');
    for (uint32_t i = 0; i < list.size; ++i) {
      if (i > 0) separate();
      write(list.items[i]);
    }
    close(']');
  }

  void object(const Dict& dict) {
    if (dict.size == 0) return out_.append("{}");
    open('{');
    bool first = true;
    for (const Dict::Entry* e : entries_of(rt_, dict, style_.sort_keys)) {
      if (!first) separate();
      first = false;
      key(e->key);
      out_.append(style_.key_separator);
      write(e->value);
    }
    close('}');
  }

  void key(Value k) {
    switch (k.kind()) {
      case Kind::kString:
        return quoted(k.text());
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        out_.append('"');
        write(k);
        return out_.append('"');
      default:
        raise("keys must be str, int, float, bool or None, not {}", type_name(k));
    }
  }

  void quoted(std::string_view s) {
    out_.append('"');
    spans_.clear();
    rt_.heap.provenance.own_parts(s, 0, spans_);
    size_t end = 0;  // of what is written
    for (const TextSpan& own : spans_) {
      escaped(s.substr(end, own.begin - end), false);
      escaped(s.substr(own.begin, own.end - own.begin), true);
      end = own.end;
    }
    escaped(s.substr(end), false);
    out_.append('"');
  }

  void escaped(std::string_view s, bool own) {
    constexpr size_t kPiece = 4096;  // bounds the room that is made
    while (!s.empty()) {
      size_t size = std::min(kPiece, s.size());
      while (size < s.size() && size > 1 && (static_cast<unsigned char>(s[size]) & 0xC0) == 0x80) --size;
      out_.append_made(size * kLongestEscape + kWord, own,
                       [&](char* to) { return escape(s.substr(0, size), style_.ensure_ascii, to); });
      s.remove_prefix(size);
    }
  }

  Runtime& rt_;
  const JsonStyle& style_;
  Builder out_;
  std::vector<TextSpan> spans_;  // room for quoted()
  uint32_t level_ = 0;
};

}  // namespace

Value to_json(Runtime& rt, Value v, const JsonStyle& style) {
  JsonWriter writer(rt, style);
  writer.write(v);
  return writer.finish();
}

Value from_json(Runtime& rt, const boost::json::array& array) {
  auto* list = rt.heap.make<List>();
  list->items = rt.heap.array<Value>(array.size());
  list->capacity = static_cast<uint32_t>(array.size());
  for (const auto& item : array) list->push(rt, from_json(rt, item));
  return Value::object(Kind::kList, list);
}

Value from_json(Runtime& rt, const boost::json::value& json) {
  const Nesting nesting(rt);
  switch (json.kind()) {
    case boost::json::kind::null:
      return Value::none();
    case boost::json::kind::bool_:
      return Value::boolean(json.get_bool());
    case boost::json::kind::int64:
      return Value::integer(json.get_int64());
    case boost::json::kind::uint64:
      return Value::unsigned_integer(json.get_uint64());
    case boost::json::kind::double_:
      return Value::real(json.get_double());
    case boost::json::kind::string: {
      const auto& s = json.get_string();
      return Value::string({s.data(), s.size()});
    }
    case boost::json::kind::array:
      return from_json(rt, json.get_array());
    case boost::json::kind::object: {
      const auto& object = json.get_object();  // whose keys differ
      const Value dict = new_dict(rt, static_cast<uint32_t>(object.size()));
      for (const auto& [key, value] : object) {
        const std::string_view name(key.data(), key.size());
        dict.dict()->append(rt, Value::string(name), from_json(rt, value), hash_text(name));
      }
      return dict;
    }
  }
  return Value::none();
}

}  // namespace reprise::jinja
