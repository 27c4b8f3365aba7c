// The writer mirrors json.dumps: floats by repr, keys of None/bool/number as text, anything without a JSON
// form an error.
#include "text/jinja/json.h"

#include <cmath>

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Runtime& rt, const JsonStyle& style) : rt_(rt), style_(style), out_(rt) {}

  void write(const Value& v) {
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

  void key(const Value& k) {
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
    size_t plain = 0;  // start of the bytes not yet written
    for (size_t i = 0; i < s.size();) {
      const auto c = static_cast<unsigned char>(s[i]);
      if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x7F || !style_.ensure_ascii || c == 0x7F)) {
        ++i;
        continue;
      }
      out_.append(s.substr(plain, i - plain));
      size_t next = i + 1;
      if (c == '"' || c == '\\') {
        out_.append('\\');
        out_.append(static_cast<char>(c));
      } else if (c < 0x20) {
        control(c);
      } else {
        next = unicode::next(s, i);
        escaped(unicode::decode(s, i));
      }
      i = plain = next;
    }
    out_.append(s.substr(plain));
    out_.append('"');
  }

  void control(unsigned char c) {
    constexpr std::string_view kNamed = "\b\t\n\f\r";
    constexpr std::string_view kLetter = "btnfr";
    const size_t at = kNamed.find(static_cast<char>(c));
    if (at == std::string_view::npos) {
      out_.append(fmt::format("\\u{:04x}", c));
    } else {
      out_.append('\\');
      out_.append(kLetter[at]);
    }
  }

  void escaped(char32_t c) {
    auto code = static_cast<uint32_t>(c);
    if (code < 0x10000) return out_.append(fmt::format("\\u{:04x}", code));
    code -= 0x10000;
    out_.append(fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF)));
  }

  Runtime& rt_;
  const JsonStyle& style_;
  Builder out_;
  uint32_t level_ = 0;
};

}  // namespace

Value to_json(Runtime& rt, const Value& v, const JsonStyle& style) {
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
      Value dict = new_dict(rt);
      for (const auto& [key, value] : json.get_object()) {
        dict.dict()->set(rt, std::string_view(key.data(), key.size()), from_json(rt, value));
      }
      return dict;
    }
  }
  return Value::none();
}

}  // namespace reprise::jinja
