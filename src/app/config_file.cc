#include "app/config_file.h"

#include <algorithm>

#include <fmt/format.h>

namespace reprise {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  Result<std::vector<ConfigEntry>> entries() {
    std::vector<ConfigEntry> found;
    std::string section;
    for (; at_ < text_.size(); next_line()) {
      skip_blanks();
      if (at_line_end()) continue;
      if (peek() == '[') {
        section = TRY(read_section());
        continue;
      }
      ConfigEntry entry = TRY(read_entry());
      entry.section = section;
      for (const ConfigEntry& other : found) {
        if (other.key == entry.key && other.section == section) {
          return fail_at(entry.line, "'{}' stands here again: it was set in line {}", entry.key, other.line);
        }
      }
      found.push_back(std::move(entry));
    }
    return found;
  }

 private:
  template <typename... Args>
  std::unexpected<Error> fail_at(size_t line, fmt::format_string<Args...> format, Args&&... args) const {
    return invalid("{}:{}: {}", name_, line, fmt::format(format, std::forward<Args>(args)...));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  // At the end of the line, or at a comment that goes there.
  bool at_line_end() const { return peek() == '\n' || peek() == '#' || peek() == ';'; }
  void next_line() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (at_ < text_.size()) ++at_;
    ++line_;
  }
  std::string_view rest_of_line() const {
    return text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_);
  }
  std::string_view read_while(bool (*belongs)(char)) {
    const size_t begin = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<std::string> read_section() {
    ++at_;
    skip_blanks();
    const std::string section(read_while(is_key));
    skip_blanks();
    if (section.empty() || peek() != ']') return fail_at(line_, "a section is written as [serve]");
    ++at_;
    TRY(expect_end(section));
    return section;
  }

  Result<ConfigEntry> read_entry() {
    ConfigEntry entry;
    entry.line = line_;
    entry.key = read_while(is_key);
    skip_blanks();
    if (entry.key.empty() || peek() != '=') {
      return fail_at(line_, "this is no setting: one is written as key = value");
    }
    ++at_;
    skip_blanks();
    entry.array = peek() == '[';
    if (entry.array) {
      TRY(read_array(entry));
    } else {
      entry.values.push_back(TRY(read_value(entry.key)));
    }
    TRY(expect_end(entry.key));
    return entry;
  }

  Result<void> expect_end(std::string_view key) {
    skip_blanks();
    if (at_line_end()) return {};
    return fail_at(line_, "the value of '{}' is followed by something else: put quotes around all of it",
                   key);
  }

  Result<void> read_array(ConfigEntry& entry) {
    ++at_;
    for (bool comma = true;; comma = false) {
      skip_lines();
      if (at_ == text_.size())
        return fail_at(entry.line, "the array of '{}' does not end with ']'", entry.key);
      if (peek() == ']') break;
      if (!comma && peek() != ',')
        return fail_at(line_, "a comma is missing in the array of '{}'", entry.key);
      if (!comma) {
        ++at_;
        skip_lines();
        if (peek() == ']') break;
      }
      entry.values.push_back(TRY(read_value(entry.key)));
    }
    ++at_;
    return {};
  }
  // Blanks, comments and ends of lines, of which an array may have any number.
  void skip_lines() {
    for (skip_blanks(); at_ < text_.size() && at_line_end(); skip_blanks()) next_line();
  }

  Result<std::string> read_value(std::string_view key) {
    if (rest_of_line().starts_with("\"\"\"") || rest_of_line().starts_with("'''")) {
      return fail_at(line_, "'{}': strings over several lines are not read here", key);
    }
    if (peek() == '"') return read_string(key);
    if (peek() == '\'') {
      const size_t end = rest_of_line().find('\'', 1);
      if (end == std::string_view::npos) return fail_at(line_, "the string of '{}' does not end", key);
      const std::string value(text_.substr(at_ + 1, end - 1));
      at_ += end + 1;
      return value;
    }
    const std::string value(read_while([](char c) {
      return !is_blank(c) && c != '\n' && std::string_view("\"'#,[]{}=").find(c) == std::string_view::npos;
    }));
    if (value.empty()) return fail_at(line_, "'{}' has no value", key);
    return value;
  }

  Result<std::string> read_string(std::string_view key) {
    std::string value;
    for (++at_; peek() != '"'; ++at_) {
      if (peek() == '\n') return fail_at(line_, "the string of '{}' does not end", key);
      if (peek() != '\\') {
        value += peek();
        continue;
      }
      ++at_;
      constexpr std::string_view kLetters = "btnfr\"\\", kMeant = "\b\t\n\f\r\"\\";
      const size_t which = kLetters.find(peek());
      if (which == std::string_view::npos) {
        return fail_at(line_, "'{}': '\\{}' is no escape of these files; a string in single quotes has none",
                       key, peek() == '\n' ? ' ' : peek());
      }
      value += kMeant[which];
    }
    ++at_;
    return value;
  }

  std::string_view text_;
  std::string_view name_;
  size_t at_ = 0;
  size_t line_ = 1;
};

}  // namespace

Result<std::vector<ConfigEntry>> parse_config(std::string_view text, std::string_view name) {
  return Reader(text, name).entries();
}

std::string config_string(std::string_view text) {
  if (text.find_first_of("\"\\\n\r") == text.npos) return fmt::format("\"{}\"", text);
  if (text.find_first_of("'\n\r") == text.npos) return fmt::format("'{}'", text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : std::string(1, c);
  }
  return out + '"';
}

}  // namespace reprise
