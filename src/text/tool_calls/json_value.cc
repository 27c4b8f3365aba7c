// Design: a byte at a time through one state. Whatever would bind us to what has not come yet is held back:
// commas until the next element begins, numbers and words until they end, escapes until they are whole.
#include "text/tool_calls/json_value.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace reprise::calls {
namespace {

constexpr size_t kMaxDepth = 256;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool ends_word(char c) { return is_space(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '"'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// RFC 8259, section 6; of those that are too large for a double, readers make different things or none.
bool is_number(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i > begin;
  };
  if (i < text.size() && text[i] == '-') ++i;
  if (i < text.size() && text[i] == '0') {
    ++i;
  } else if (!digits()) {
    return false;
  }
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (!digits()) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == text.size() && std::isfinite(std::strtod(std::string(text).c_str(), nullptr));
}

void append_character(std::string& json, char c) {
  switch (c) {
    case '"':
      json += "\\\"";
      break;
    case '\\':
      json += "\\\\";
      break;
    case '\n':
      json += "\\n";
      break;
    case '\r':
      json += "\\r";
      break;
    case '\t':
      json += "\\t";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      } else {
        json += c;
      }
  }
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  append_escaped(json, text);
  return json + '"';
}

// Of "\uXXXX".
uint32_t code_unit(std::string_view escape) {
  uint32_t unit = 0;
  for (char c : escape.substr(2, 4))
    unit = unit * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  return unit;
}
bool is_high_surrogate(std::string_view escape) { return (code_unit(escape) & 0xFC00) == 0xD800; }
bool is_low_surrogate(std::string_view escape) { return (code_unit(escape) & 0xFC00) == 0xDC00; }
constexpr std::string_view kReplacement = "\\ufffd";

}  // namespace

void append_escaped(std::string& json, std::string_view text) {
  for (char c : text) append_character(json, c);
}

size_t JsonReader::take(std::string_view text) {
  size_t i = 0;
  for (; i < text.size() && !complete(); ++i) {
    if (text[i] == kMark) continue;
    // A word that is the whole value ends before the byte that shows its end.
    if (state_ == State::kWord && levels_.empty() && ends_word(text[i])) {
      end_word();
      if (complete()) break;
    }
    wrapped_ ? step_wrapper(text[i]) : step(text[i]);
  }
  if (!out_.empty()) to_.put(out_);
  out_.clear();
  return i;
}

// ---- Strings

void JsonReader::add_character(char c) {
  // A half of a surrogate pair that stands alone is no character.
  if (escape_.size() == 6) {
    out_ += kReplacement;
    escape_.clear();
  }
  append_character(out_, c);
}

void JsonReader::step_escape(char c) {
  const bool second = escape_.size() > 6;
  std::string_view escape = std::string_view(escape_).substr(second ? 6 : 0);
  if (escape.size() == 1) {
    if (c == 'u') {
      escape_ += c;
      return;
    }
    if (second) out_ += kReplacement;
    escape_.clear();
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    if (kEscapes.find(c) != kEscapes.npos) {
      out_ += '\\';
      out_ += c;
    } else if (c == '\'') {
      out_ += c;
    } else {  // not an escape: a backslash
      out_ += "\\\\";
      append_character(out_, c);
    }
    return;
  }
  if (!is_hex(c)) {  // "\u12": a backslash as well
    std::string rest(escape);
    if (second) out_ += kReplacement;
    escape_.clear();
    append_escaped(out_, rest);
    return step_string(c);
  }
  escape_ += c;
  escape = std::string_view(escape_).substr(second ? 6 : 0);
  if (escape.size() < 6) return;
  if (second && is_low_surrogate(escape)) {
    out_ += escape_;
    escape_.clear();
    return;
  }
  if (second) {
    out_ += kReplacement;
    escape_.erase(0, 6);
  }
  if (is_high_surrogate(escape_)) return;  // its other half may come
  out_ += is_low_surrogate(escape_) ? kReplacement : std::string_view(escape_);
  escape_.clear();
}

void JsonReader::step_string(char c) {
  if (!escape_.empty() && escape_.size() != 6) return step_escape(c);
  if (c == '\\') {
    escape_ += c;
  } else if (c == quote_) {
    if (!escape_.empty()) out_ += kReplacement;
    escape_.clear();
    out_ += '"';
    quote_ = 0;
    if (key_) {
      state_ = State::kColon;
    } else {
      end_value();
    }
  } else {
    add_character(c);
  }
}

// ---- Structure

void JsonReader::begin_element() {
  Level& level = levels_.back();
  if (!level.empty) out_ += ',';
  level.empty = false;
}

void JsonReader::end_level() {
  out_ += levels_.back().array ? ']' : '}';
  levels_.pop_back();
  end_value();
}

void JsonReader::end_word() {
  opened_ = true;
  if (levels_.empty() && !any_) {  // for an object
    const bool none = word_ == "null" || word_ == "None";
    word_.clear();
    state_ = none ? State::kDone : State::kBroken;
    opened_ = none;
    if (none) out_ += "{}";
    return;
  }
  if (is_number(word_) || word_ == "true" || word_ == "false" || word_ == "null") {
    out_ += word_;
  } else if (word_ == "True" || word_ == "False") {
    out_ += word_ == "True" ? "true" : "false";
  } else if (word_ == "None" || word_ == "NaN") {
    out_ += "null";
  } else {
    out_ += quoted(word_);
  }
  word_.clear();
  end_value();
}

void JsonReader::step_value(char c) {
  if (c == '{' || c == '[') {
    if (levels_.size() == kMaxDepth) {
      out_ += "null";
      state_ = State::kBroken;
      return;
    }
    out_ += c;
    levels_.push_back({c == '['});
    state_ = State::kElement;
  } else if (c == '"' || c == '\'') {
    out_ += '"';
    quote_ = c;
    key_ = false;
  } else {
    word_ += c;
    state_ = State::kWord;
  }
}

void JsonReader::step(char c) {
  if (quote_ != 0) return step_string(c);
  switch (state_) {
    case State::kStart:
      if (is_space(c)) return;
      if (any_ || c == '{') {
        opened_ = c == '{' || c == '[' || c == '"' || c == '\'';
        step_value(c);
      } else if (c == '"' && !wrapped_) {
        wrapped_ = true;
      } else {
        word_ += c;
        state_ = c == 'n' || c == 'N' ? State::kWord : State::kBroken;
      }
      return;
    case State::kElement:
    case State::kNext: {
      if (is_space(c) || c == ',') return;
      const bool array = levels_.back().array;
      if (c == '}' || c == ']') {
        // The wrong bracket ends what is open, too: nothing better can be meant.
        return end_level();
      }
      begin_element();
      if (array) return step_value(c);
      if (c == '"' || c == '\'') {
        out_ += '"';
        quote_ = c;
        key_ = true;
      } else {
        word_ += c;
        state_ = State::kBareKey;
      }
      return;
    }
    case State::kBareKey:
      if (c != ':' && c != '}' && c != ',') {
        word_ += c;
        return;
      }
      while (!word_.empty() && is_space(word_.back())) word_.pop_back();
      out_ += quoted(word_);
      word_.clear();
      state_ = State::kColon;
      return step(c);
    case State::kColon:
      if (is_space(c)) return;
      out_ += ':';
      state_ = State::kMember;
      if (c != ':') step(c);
      return;
    case State::kMember:
      if (is_space(c)) return;
      if (c == ',' || c == '}' || c == ']') {
        out_ += "null";
        end_value();
        return step(c);
      }
      return step_value(c);
    case State::kWord:
      if (levels_.empty() || !ends_word(c)) {
        word_ += c;
        return;
      }
      end_word();
      if (c != ':') step(c);
      return;
    case State::kDone:
    case State::kBroken:
      return;
  }
}

// The object's text is the content of a string: its escapes are undone. One that stands for a character
// beyond ASCII is left as it is, where it means the same in the inner string.
void JsonReader::step_wrapper(char c) {
  if (wrapper_escape_.empty()) {
    if (c == '\\') {
      wrapper_escape_ += c;
    } else if (c == '"') {
      unwrapped_ = true;
    } else {
      step(c);
    }
    return;
  }
  wrapper_escape_ += c;
  if (wrapper_escape_[1] == 'u' && wrapper_escape_.size() < 6) return;
  std::string escape = std::move(wrapper_escape_);
  wrapper_escape_.clear();
  switch (escape[1]) {
    case 'n':
      return step('\n');
    case 'r':
      return step('\r');
    case 't':
      return step('\t');
    case 'b':
      return step('\b');
    case 'f':
      return step('\f');
    case 'u': {
      if (!std::all_of(escape.begin() + 2, escape.end(), is_hex)) return;
      const uint32_t unit = code_unit(escape);
      if (unit < 0x80) return step(static_cast<char>(unit));
      for (char inner : escape) step(inner);
      return;
    }
    default:
      return step(escape[1]);
  }
}

void JsonReader::close() {
  if (quote_ != 0) {
    const size_t held = escape_.size() % 6;
    if (escape_.size() >= 6) out_ += kReplacement;
    if (held > 1) append_escaped(out_, std::string_view(escape_).substr(escape_.size() - held));
    escape_.clear();
    step_string(quote_);
  }
  if (state_ == State::kBareKey) step(':');
  if (state_ == State::kWord) end_word();
  if (state_ == State::kColon) step(':');
  if (state_ == State::kMember) {
    out_ += "null";
    end_value();
  }
  while (!levels_.empty()) end_level();
  if (!opened_) out_ += any_ ? "null" : "{}";
  opened_ = true;
  state_ = State::kDone;
  unwrapped_ = wrapped_;
  if (!out_.empty()) to_.put(out_);
  out_.clear();
}

}  // namespace reprise::calls
