// JSON as a model writes it, made valid while it comes: what was passed on is at any time the beginning of a
// valid value (RFC 8259), and close() completes it, whatever came.
//
// Mended: raw control characters in strings and escapes that are none, single quotes, bare keys and words,
// True, False and None, commas missing or too many, values missing (null), strings, arrays and objects left
// open. An object that was written as a string ("{\"a\": 1}") is taken out of it. White space between tokens
// is left out. What follows a mistake that cannot be mended is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/tool_calls/scanner.h"

namespace reprise::calls {

class JsonReader final : public ValueReader {
 public:
  enum class Wanted : uint8_t { kObject, kAny };
  explicit JsonReader(Receiver& to, Wanted wanted = Wanted::kObject)
      : to_(to), any_(wanted == Wanted::kAny) {}

  size_t take(std::string_view text) override;
  bool complete() const override { return wrapped_ ? unwrapped_ : state_ == State::kDone; }
  bool quoting() const override {
    return (state_ != State::kBroken && wrapped_ && !unwrapped_) || quote_ != 0;
  }
  // Completes the value; when nothing of it came, "{}" for an object, else null.
  void close();

 private:
  enum class State : uint8_t {
    kStart,    // before the value
    kElement,  // an object's key or an array's element, or its end
    kBareKey,  // in a key without quotes
    kColon,    // after a key
    kMember,   // a member's value
    kWord,     // in a number or a word
    kNext,     // after a value
    kDone,     // after the value
    kBroken,   // after a mistake
  };
  struct Level {
    bool array;
    bool empty = true;
  };

  void step(char c);
  void step_string(char c);
  void step_escape(char c);
  void step_wrapper(char c);
  void step_value(char c);
  void begin_element();
  void end_level();
  void end_value() { state_ = levels_.empty() ? State::kDone : State::kNext; }
  void end_word();
  void add_character(char c);

  Receiver& to_;
  const bool any_;
  std::string out_;  // passed on when the piece was read
  std::vector<Level> levels_;
  State state_ = State::kStart;
  bool opened_ = false;  // something was passed on
  char quote_ = 0;       // of the string that is being read
  bool key_ = false;     // which is a key
  std::string escape_;   // the beginning of an escape, or of two that make one character
  std::string word_;
  bool wrapped_ = false, unwrapped_ = false;  // the object is a string's content; that string has ended
  std::string wrapper_escape_;
};

// `text` as the inside of a JSON string.
void append_escaped(std::string& json, std::string_view text);

}  // namespace reprise::calls
