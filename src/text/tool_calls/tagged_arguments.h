// Arguments that come one by one, as keys and bare text, made one JSON object while they come.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tool_calls/answer_sink.h"

namespace reprise::calls {

// Of one call, which was begun.
class TaggedArguments {
 public:
  TaggedArguments(AnswerSink& out, std::string call) : out_(out), call_(std::move(call)) {}

  // The value is to follow, as a TaggedValue. False: the key was given before, or is none.
  bool begin(std::string key);
  // Of the key begun last, as its tool declares it.
  JsonTypes types() const { return out_.tools().types(call_, keys_.back()); }
  // It is declared, and missing yet.
  bool expects(std::string_view key) const;
  void end();  // and the call

 private:
  AnswerSink& out_;
  std::string call_;
  std::vector<std::string> keys_;
};

// A value's text. Strings are passed on while they come; what may be something else, when it is whole.
class TaggedValue final : public Receiver {
 public:
  // `padded`: one line break at its beginning and one at its end are markup.
  TaggedValue(AnswerSink& out, JsonTypes types, bool padded);
  void put(std::string_view text) override;
  void end();

 private:
  AnswerSink& out_;
  const JsonTypes types_;
  const bool streams_, padded_;
  bool at_start_ = true, held_break_ = false;
  std::string text_;
};

}  // namespace reprise::calls
