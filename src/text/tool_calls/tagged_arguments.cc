#include "text/tool_calls/tagged_arguments.h"

#include <algorithm>

#include "text/tool_calls/json_value.h"

namespace reprise::calls {

bool TaggedArguments::begin(std::string key) {
  if (key.empty() || std::ranges::find(keys_, key) != keys_.end()) return false;
  std::string text = keys_.empty() ? "{\"" : ",\"";
  append_escaped(text, key);
  out_.arguments.put(text + "\":");
  keys_.push_back(std::move(key));
  return true;
}

bool TaggedArguments::expects(std::string_view key) const {
  return out_.tools().types(call_, key) != kNoType && std::ranges::find(keys_, key) == keys_.end();
}

void TaggedArguments::end() {
  out_.arguments.put(keys_.empty() ? "{}" : "}");
  out_.end_call();
}

TaggedValue::TaggedValue(AnswerSink& out, JsonTypes types, bool padded)
    : out_(out), types_(types), streams_(types == kString || types == kNoType), padded_(padded) {
  if (streams_) out_.arguments.put("\"");
}

void TaggedValue::put(std::string_view text) {
  for (char c : text) {
    if (c == kMark) continue;
    if (std::exchange(at_start_, false) && padded_ && c == '\n') continue;
    if (std::exchange(held_break_, false)) text_ += '\n';
    if (padded_ && c == '\n') {
      held_break_ = true;  // it may be the last
    } else {
      text_ += c;
    }
  }
  if (!streams_) return;
  std::string escaped;
  append_escaped(escaped, text_);
  text_.clear();
  out_.arguments.put(escaped);
}

void TaggedValue::end() { out_.arguments.put(streams_ ? "\"" : json_value_of(text_, types_)); }

}  // namespace reprise::calls
