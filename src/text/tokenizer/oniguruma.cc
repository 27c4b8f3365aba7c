// Design: one pass that copies. A character class is read as an expression (union, intersection, complement)
// whose value is again something that matches one character: a class where PCRE2 has one, else lookaheads
// before a class.
#include "text/tokenizer/oniguruma.h"

#include <vector>

#include "text/tokenizer/oniguruma_sets.h"
#include "text/utf8.h"

namespace reprise {
namespace {

using std::string_view;

// What these stand for behind a backslash is themselves; PCRE2 gives some of them a meaning.
constexpr string_view kPlainLetters = "EFIJLPQTUVijlmpq";

// A matcher of one character of the set, or of none of it.
std::string one_of(string_view items, bool negated = false) {
  if (items.starts_with("\\p{") && items.find('}') == items.size() - 1)
    return (negated ? "\\P" : "\\p") + std::string(items.substr(2));
  return (negated ? "[^" : "[") + std::string(items) + "]";
}

// An edge of words, or its contrary.
std::string word_edge(bool edge) {
  const std::string word = one_of(kLoneWordSet);
  const char* const after_word = edge ? "(?!" : "(?=";
  const char* const after_other = edge ? "(?=" : "(?!";
  return "(?:(?<=" + word + ")" + after_word + word + ")|(?<!" + word + ")" + after_other + word + "))";
}

class Translator {
 public:
  explicit Translator(string_view pattern) : in_(pattern) {}

  Result<std::string> run() {
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '\\') {
        begin_atom();
        TRY(escape());
      } else if (c == '[') {
        begin_atom();
        out_ += TRY(char_class());
      } else if (c == '(') {
        groups_.push_back({out_.size(), caseless_});
        group();
      } else if (c == ')') {
        if (groups_.empty()) return unfinished();
        atom_ = groups_.back().begin;
        caseless_ = groups_.back().caseless_around;
        groups_.pop_back();
        copy();
      } else if (c == '{' && interval() > 0) {
        const size_t length = interval();
        out_ += in_.substr(at_, length);
        at_ += length;
        if (at_ < in_.size() && in_[at_] == '+') {  // of what is repeated, not possessive
          out_.insert(atom_, "(?:");
          out_ += ')';
        }
      } else if (c == '*' || c == '+' || c == '?' || c == '|') {
        copy();
      } else {
        begin_atom();
        const Utf8Step step = utf8_step(in_.data() + at_, in_.data() + in_.size());
        out_ += in_.substr(at_, step.length);
        at_ += step.length;
      }
    }
    if (!groups_.empty()) return unfinished();
    return std::move(out_);
  }

 private:
  std::unexpected<Error> unfinished() const {
    return fail(ErrorKind::kUnsupported, "the pattern {} is not understood: a group or class is not closed",
                in_);
  }
  void begin_atom() { atom_ = out_.size(); }
  void copy() { out_ += in_[at_++]; }
  char peek(size_t ahead) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }

  // Length of the {n}, {n,}, {,m} or {n,m} here; 0: a plain brace.
  size_t interval() const {
    size_t i = at_ + 1;
    size_t digits = 0;
    for (; i < in_.size() && ((in_[i] >= '0' && in_[i] <= '9') || in_[i] == ','); ++i)
      digits += in_[i] != ',';
    return i < in_.size() && in_[i] == '}' && digits > 0 ? i + 1 - at_ : 0;
  }

  // (?im-x) and (?im-x: with Ruby's letters: m lets the dot match newlines.
  void group() {
    copy();
    if (peek(0) != '?') return;
    size_t i = at_ + 1;
    while (i < in_.size() && (in_[i] == 'i' || in_[i] == 'm' || in_[i] == 'x' || in_[i] == '-')) ++i;
    if (i == at_ + 1 || i == in_.size() || (in_[i] != ')' && in_[i] != ':')) return;
    for (bool on = true; at_ < i; ++at_) {
      if (in_[at_] == '-') on = false;
      if (in_[at_] == 'i') caseless_ = on;
      out_ += in_[at_] == 'm' ? 's' : in_[at_];
    }
    if (in_[i] == ')') groups_.pop_back(), out_ += in_[at_++];
  }

  Result<void> escape() {
    if (at_ + 1 >= in_.size()) return unfinished();
    const char c = peek(1);
    if (c == 'b' || c == 'B') {
      out_ += word_edge(c == 'b');
      at_ += 2;
    } else if (const auto set = read_set(kLoneWordSet)) {
      out_ += one_of(set->of.items, set->negated);
    } else {
      out_ += literal_escape();
    }
    return {};
  }

  struct Set {
    CharSet of;
    bool negated;
  };

  // The \s, \w, \h, \p{name}, \p{^name} here, or the same with a capital, if it is one; steps over it. `word`
  // is what \w means here.
  std::optional<Set> read_set(string_view word) {
    const char c = peek(1);
    const bool negated = c >= 'A' && c <= 'Z';
    const auto simple = [&](string_view items) {
      at_ += 2;
      return Set{{std::string(items)}, negated};
    };
    switch (c) {
      case 's':
      case 'S':
        return simple(kSpaceSet);
      case 'w':
      case 'W':
        return simple(word);
      case 'h':
      case 'H':
        return simple(kHexSet);
      case 'p':
      case 'P':
        break;
      default:
        return std::nullopt;
    }
    const size_t close = peek(2) == '{' ? in_.find('}', at_) : string_view::npos;
    if (close == string_view::npos) return std::nullopt;
    const bool complement = peek(3) == '^';
    const size_t begin = at_ + (complement ? 4 : 3);
    Set set{property_set(in_.substr(begin, close - begin)), complement != negated};
    if (set.of.items == kWordSet) set.of.items = word;
    at_ = close + 1;
    return set;
  }

  // The [:name:] or [:^name:] here within a class, if it is one; steps over it.
  Result<std::optional<Set>> read_bracket() {
    size_t begin = at_ + 2;
    const bool negated = peek(2) == '^';
    if (negated) ++begin;
    size_t end = begin;
    while (end < in_.size() && in_[end] >= 'a' && in_[end] <= 'z') ++end;
    if (peek(1) != ':' || !in_.substr(end).starts_with(":]")) return std::nullopt;
    const auto set = bracket_set(in_.substr(begin, end - begin));
    if (!set)
      return fail(ErrorKind::kUnsupported, "the pattern {} is not understood: no characters are called {}",
                  in_, in_.substr(at_, end + 2 - at_));
    at_ = end + 2;
    return Set{*set, negated};
  }

  // An escape that stands for one character, or means the same in both; steps over it.
  std::string literal_escape() {
    if (peek(1) == 'u') {
      std::string digits;
      for (size_t i = 2; i < 6 && std::isxdigit(static_cast<unsigned char>(peek(i))) != 0; ++i)
        digits += peek(i);
      if (digits.size() == 4) {
        at_ += 6;
        return "\\x{" + digits + "}";
      }
    }
    size_t length = 2;
    const char c = peek(1);
    if (c == 'v' || kPlainLetters.contains(c)) {
      at_ += 2;
      return c == 'v' ? "\\x0B" : std::string(1, c);
    }
    if (c == 'x' && peek(2) == '{') {
      const size_t close = in_.find('}', at_);
      if (close != string_view::npos) length = close + 1 - at_;
    } else if (static_cast<uint8_t>(c) >= 0x80) {
      length = 1 + utf8_step(in_.data() + at_ + 1, in_.data() + in_.size()).length;
    }
    const string_view text = in_.substr(at_, length);
    at_ += text.size();
    return std::string(text);
  }

  // The class that begins here: text that matches one character.
  Result<std::string> char_class() {
    if (++depth_ > 50) return unfinished();
    ++at_;
    const bool negated = peek(0) == '^';
    if (negated) ++at_;
    std::vector<std::string> operands;  // of &&
    std::string items;                  // what a PCRE2 class holds
    std::vector<std::string> nested;    // what it cannot: matchers of one character
    const auto end_operand = [&] {
      std::string operand = items.empty() ? "" : "[" + items + "]";
      if (!nested.empty()) {
        std::string any = operand;
        for (const std::string& one : nested) any += (any.empty() ? "" : "|") + one;
        operand = "(?:" + any + ")";
      }
      operands.push_back(operand.empty() ? "(?!)" : operand);
      nested.clear();
    };
    bool first = true;
    for (;; first = false) {
      if (at_ >= in_.size()) return unfinished();
      const char c = in_[at_];
      if (c == ']' && !first) break;
      if (c == '[') {
        if (const auto bracket = TRY(read_bracket())) {
          TRY(add(*bracket, items, nested));
        } else {
          nested.push_back(TRY(char_class()));
        }
      } else if (c == '&' && peek(1) == '&') {
        at_ += 2;
        end_operand();
        items.clear();
      } else if (c == '\\') {
        if (at_ + 1 >= in_.size()) return unfinished();
        if (const auto set = read_set(kWordSet)) {
          TRY(add(*set, items, nested));
        } else {
          items += literal_escape();
        }
      } else {
        if (c == ']') items += '\\';
        items += c;
        ++at_;
      }
    }
    ++at_;
    --depth_;
    if (operands.empty() && nested.empty()) {
      if (items.starts_with('^')) items.insert(0, "\\");
      return items.empty() ? "(?!)" : (negated ? "[^" : "[") + items + "]";
    }
    end_operand();
    std::string all = operands.back();
    operands.pop_back();
    for (const std::string& operand : operands) all = "(?=" + operand + ")" + all;
    return negated ? "(?:(?!" + all + ")(?s:.))" : "(?:" + all + ")";
  }

  // Adds a set to a class: to its items, or to the matchers beside them.
  Result<void> add(const Set& set, std::string& items, std::vector<std::string>& nested) const {
    std::string all = set.of.items;
    if (caseless_ && set.of.caseless == CharSet::CaselessClass::kNone)
      return fail(
          ErrorKind::kUnsupported,
          "the pattern {} is not understood: it ignores the case of a class that holds letters by case", in_);
    if (caseless_ && set.of.caseless == CharSet::CaselessClass::kIota) all += R"(\x{345})";
    const std::string matcher = one_of(all, set.negated);
    if (!set.negated) {
      items += all;
    } else if (matcher.starts_with('[')) {
      nested.push_back(matcher);
    } else {
      items += matcher;
    }
    return {};
  }

  struct Group {
    size_t begin;  // in out_
    bool caseless_around;
  };

  const string_view in_;
  size_t at_ = 0;
  std::string out_;
  size_t atom_ = 0;  // where in out_ what a repeat would repeat begins
  std::vector<Group> groups_;
  bool caseless_ = false;
  int depth_ = 0;  // of classes
};

}  // namespace

Result<std::string> pcre2_pattern(std::string_view pattern) { return Translator(pattern).run(); }

}  // namespace reprise
