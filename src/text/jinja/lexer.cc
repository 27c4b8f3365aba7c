// One pass. Outside of tags the next "{" pair is found by memchr; inside, tokens are matched in jinja2's
// order: end of the tag (unless brackets are open), white space, float, integer, name, string, operator.
#include "text/jinja/lexer.h"

#include <charconv>
#include <cstdlib>

#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(SourceText& text) : text_(text), s_(text.source) {}

  std::vector<Token> run() {
    while (pos_ < s_.size()) root();
    push(TokenKind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  // ---- text outside of tags ----

  void root() {
    const size_t start = pos_;
    size_t tag = s_.find('{', start);
    while (tag != std::string_view::npos && !(tag + 1 < s_.size() && is_opener(s_[tag + 1]))) {
      tag = s_.find('{', tag + 1);
    }
    if (tag == std::string_view::npos) {
      data(s_.substr(start));
      pos_ = s_.size();
      return;
    }
    const char opener = s_[tag + 1];
    size_t after = tag + 2;
    const char sign = after < s_.size() && (s_[after] == '-' || s_[after] == '+') ? s_[after++] : 0;
    data(leading(s_.substr(start, tag - start), start, sign, opener != '{'));
    pos_ = tag;
    switch (opener) {
      case '#':
        pos_ = after;
        return comment(tag);
      case '{':
        push(TokenKind::kVariableBegin, s_.substr(tag, 2));
        pos_ = after;
        return tag_body(false);
      default:
        if (const size_t body = raw_begin(after)) {
          pos_ = body;
          return raw(tag);
        }
        push(TokenKind::kBlockBegin, s_.substr(tag, 2));
        pos_ = after;
        return tag_body(true);
    }
  }

  static bool is_opener(char c) { return c == '{' || c == '%' || c == '#'; }

  // The data before a tag as its sign and lstrip_blocks leave it.
  std::string_view leading(std::string_view data, size_t start, char sign, bool strippable) const {
    if (sign == '-') return unicode::strip_right(data);
    if (sign == '+' || !strippable) return data;
    const size_t newline = data.rfind('\n');
    const bool line_start = newline != std::string_view::npos || start == 0 || s_[start - 1] == '\n';
    const size_t from = newline == std::string_view::npos ? 0 : newline + 1;
    return line_start && unicode::strip_left(data.substr(from)).empty() ? data.substr(0, from) : data;
  }

  void data(std::string_view text) {
    if (!text.empty()) push(TokenKind::kData, text);
  }

  void skip_space() { pos_ = s_.size() - unicode::strip_left(s_.substr(pos_)).size(); }

  // After the end of a block or comment: what its sign says about the white space that follows.
  void after_block(char sign) {
    if (sign == '-') {
      skip_space();
    } else if (sign != '+' && pos_ < s_.size() && s_[pos_] == '\n') {
      ++pos_;
    }
  }

  void comment(size_t tag) {
    const size_t end = s_.find("#}", pos_);
    if (end == std::string_view::npos) raise_at(position(tag), "Missing end of comment tag");
    const char sign = end > pos_ && (s_[end - 1] == '-' || s_[end - 1] == '+') ? s_[end - 1] : 0;
    pos_ = end + 2;
    after_block(sign);
  }

  size_t spaces_from(size_t i) const { return s_.size() - unicode::strip_left(s_.substr(i)).size(); }

  // The body of a raw block whose tag goes on at `i`, or 0 if it is another tag.
  size_t raw_begin(size_t i) const {
    i = spaces_from(i);
    if (!s_.substr(i).starts_with("raw")) return 0;
    i = spaces_from(i + 3);
    const bool strip = s_.substr(i).starts_with("-%}");
    if (!strip && !s_.substr(i).starts_with("%}")) return 0;
    return strip ? spaces_from(i + 3) : i + 2;
  }

  void raw(size_t tag) {
    const size_t start = pos_;
    for (size_t end = s_.find("{%", start); end != std::string_view::npos; end = s_.find("{%", end + 1)) {
      size_t i = end + 2;
      const char sign = i < s_.size() && (s_[i] == '-' || s_[i] == '+') ? s_[i++] : 0;
      i = spaces_from(i);
      if (!s_.substr(i).starts_with("endraw")) continue;
      i = spaces_from(i + 6);
      const char end_sign = i < s_.size() && (s_[i] == '-' || s_[i] == '+') ? s_[i++] : 0;
      if (!s_.substr(i).starts_with("%}")) continue;
      data(leading(s_.substr(start, end - start), start, sign, true));
      pos_ = i + 2;
      return after_block(end_sign);
    }
    raise_at(position(tag), "Missing end of raw directive");
  }

  // ---- inside of tags ----

  void tag_body(bool block) {
    std::string open;  // brackets to be closed
    const char close = block ? '%' : '}';
    while (pos_ < s_.size()) {
      if (open.empty() && tag_end(block, close)) return;
      const char32_t c = unicode::decode(s_, pos_);
      if (unicode::is_space(c)) {
        skip_space();
      } else if (is_digit(s_[pos_])) {
        number();
      } else if (unicode::is_word(c)) {
        name();
      } else if (c == '"' || c == '\'') {
        string(s_[pos_]);
      } else {
        op(open);
      }
    }
  }

  bool tag_end(bool block, char close) {
    const std::string_view rest = s_.substr(pos_);
    size_t i = 0;
    char sign = 0;
    if (rest[0] == '-' || (block && rest[0] == '+')) sign = rest[i++];
    if (rest.size() < i + 2 || rest[i] != close || rest[i + 1] != '}') return false;
    push(block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, rest.substr(0, i + 2));
    pos_ += i + 2;
    if (block) {
      after_block(sign);
    } else if (sign == '-') {
      skip_space();
    }
    return true;
  }

  // Digits with single underscores between them.
  size_t digits(size_t i, bool (*digit)(char)) const {
    while (i < s_.size() && (digit(s_[i]) || (s_[i] == '_' && i + 1 < s_.size() && digit(s_[i + 1])))) ++i;
    return i;
  }

  void number() {
    const size_t start = pos_;
    size_t end = digits(start, is_digit);
    bool real = false;
    if (start == 0 || s_[start - 1] != '.') {
      size_t i = end;
      if (i + 1 < s_.size() && s_[i] == '.' && is_digit(s_[i + 1])) {
        i = digits(i + 1, is_digit);
        real = true;
      }
      size_t e = i;
      if (e < s_.size() && (s_[e] == 'e' || s_[e] == 'E')) {
        ++e;
        if (e < s_.size() && (s_[e] == '+' || s_[e] == '-')) ++e;
        if (e < s_.size() && is_digit(s_[e])) {
          i = digits(e, is_digit);
          real = true;
        }
      }
      if (real) end = i;
    }
    if (real) {
      std::string plain = without_underscores(s_.substr(start, end - start));
      push(TokenKind::kNumber, s_.substr(start, end - start)).number =
          Value::real(std::strtod(plain.c_str(), nullptr));
      pos_ = end;
      return;
    }
    integer(start, end);
  }

  static std::string without_underscores(std::string_view s) {
    std::string plain;
    for (const char c : s) {
      if (c != '_') plain += c;
    }
    return plain;
  }

  void integer(size_t start, size_t end) {
    int base = 10;
    size_t first = start;
    if (s_[start] == '0' && start + 1 < s_.size()) {
      const char kind = static_cast<char>(s_[start + 1] | 32);
      bool (*digit)(char) = nullptr;
      if (kind == 'x') {
        base = 16;
        digit = [](char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); };
      } else if (kind == 'o') {
        base = 8;
        digit = [](char c) { return c >= '0' && c <= '7'; };
      } else if (kind == 'b') {
        base = 2;
        digit = [](char c) { return c == '0' || c == '1'; };
      }
      if (digit != nullptr && digits(start + 2, digit) > start + 2) {
        first = start + 2;
        end = digits(first, digit);
      } else {
        base = 10;
        end = digits(start,
                     [](char c) { return c == '0'; });  // a leading zero: only zeros belong to the number
      }
    }
    const std::string plain = without_underscores(s_.substr(first, end - first));
    uint64_t value = 0;
    if (std::from_chars(plain.data(), plain.data() + plain.size(), value, base).ec != std::errc()) {
      raise_at(position(start), "the integer {} is too large", s_.substr(start, end - start));
    }
    push(TokenKind::kNumber, s_.substr(start, end - start)).number = from_int(static_cast<__int128>(value));
    pos_ = end;
  }

  void name() {
    const size_t start = pos_;
    if (unicode::is_numeric(unicode::decode(s_, start))) {
      raise_at(position(start), "Invalid character in identifier");
    }
    while (pos_ < s_.size() && unicode::is_word(unicode::decode(s_, pos_))) pos_ = unicode::next(s_, pos_);
    push_at(start, TokenKind::kName, s_.substr(start, pos_ - start));
  }

  void string(char quote) {
    const size_t start = pos_;
    bool escapes = false;
    size_t i = start + 1;
    for (; i < s_.size() && s_[i] != quote; ++i) {
      if (s_[i] == '\\') {
        escapes = true;
        ++i;
      }
    }
    if (i >= s_.size()) raise_at(position(start), "unexpected char {} (a string without an end)", quote);
    std::string_view body = s_.substr(start + 1, i - start - 1);
    if (escapes) body = text_.keep(unescape(body, start));
    pos_ = i + 1;
    push_at(start, TokenKind::kString, body);
  }

  // Python's unicode-escape.
  std::string unescape(std::string_view s, size_t start) const {
    std::string out;
    for (size_t i = 0; i < s.size();) {
      if (s[i] != '\\') {
        out += s[i++];
        continue;
      }
      const char c = s[i + 1];  // a backslash never ends a string
      i += 2;
      constexpr std::string_view kLetters = "abfnrtv\\'\"";
      constexpr std::string_view kMeaning = "\a\b\f\n\r\t\v\\'\"";
      if (const size_t at = kLetters.find(c); at != std::string_view::npos) {
        out += kMeaning[at];
      } else if (c == '\n') {
        continue;  // a line continued
      } else if (c >= '0' && c <= '7') {
        uint32_t code = 0;
        --i;
        for (int n = 0; n < 3 && i < s.size() && s[i] >= '0' && s[i] <= '7'; ++n) {
          code = code * 8 + static_cast<uint32_t>(s[i++] - '0');
        }
        unicode::append(out, code);
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const size_t size = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        const std::string_view hex = s.substr(i, size);
        uint32_t code = 0;
        const auto parsed = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
        if (hex.size() != size || parsed.ec != std::errc() || parsed.ptr != hex.data() + size) {
          raise_at(position(start), "truncated \\{} escape in a string", c);
        }
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
          raise_at(position(start), "illegal Unicode character \\{}{} in a string", c, hex);
        }
        unicode::append(out, code);
        i += size;
      } else if (c == 'N') {
        raise_at(position(start), "\\N escapes are not supported in a string: write the character itself");
      } else {
        out += '\\';
        out += c;
      }
    }
    return out;
  }

  void op(std::string& open) {
    constexpr std::string_view kPairs[] = {"**", "//", "==", "!=", ">=", "<="};
    constexpr std::string_view kSingles = "+-/*%~[](){}><=.:|,;";
    const std::string_view rest = s_.substr(pos_);
    size_t size = 0;
    for (const std::string_view pair : kPairs) {
      if (rest.starts_with(pair)) size = 2;
    }
    if (size == 0 && kSingles.find(rest[0]) != std::string_view::npos) size = 1;
    if (size == 0) {
      raise_at(position(pos_), "unexpected character '{}'", rest.substr(0, unicode::next(rest, 0)));
    }
    const char c = rest[0];
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) raise_at(position(pos_), "unexpected '{}'", c);
      if (open.back() != c) raise_at(position(pos_), "unexpected '{}', expected '{}'", c, open.back());
      open.pop_back();
    }
    push(TokenKind::kOperator, rest.substr(0, size));
    pos_ += size;
  }

  // ---- positions ----

  // Tokens come in order, so the line is counted on from the last one.
  Position position(size_t at) {
    for (; counted_ < at; ++counted_) {
      if (s_[counted_] == '\n') {
        ++line_;
        line_start_ = counted_ + 1;
      }
    }
    if (at < line_start_) return {line_, 1};
    return {line_, static_cast<uint32_t>(at - line_start_ + 1)};
  }
  Position position(size_t at) const { return Lexer(*this).position(at); }

  Token& push(TokenKind kind, std::string_view text) { return push_at(pos_, kind, text); }
  Token& push_at(size_t at, TokenKind kind, std::string_view text) {
    return tokens_.emplace_back(kind, text, Value(), position(at));
  }

  SourceText& text_;
  std::string_view s_;
  size_t pos_ = 0;
  std::vector<Token> tokens_;
  size_t counted_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::unique_ptr<SourceText> normalize(std::string_view source) {
  if (source.size() > size_t{16} << 20) exceed("the template is too long (more than 16 MiB)");
  if (!unicode::valid(source)) raise("the template is not valid UTF-8");
  auto text = std::make_unique<SourceText>(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') continue;
      text->source += '\n';
    } else {
      text->source += source[i];
    }
  }
  if (text->source.ends_with('\n')) text->source.pop_back();
  return text;
}

std::vector<Token> tokenize(SourceText& text) { return Lexer(text).run(); }

}  // namespace reprise::jinja
