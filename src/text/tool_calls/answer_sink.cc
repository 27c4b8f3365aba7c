#include "text/tool_calls/answer_sink.h"

#include <algorithm>

namespace reprise::calls {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

}  // namespace

void AnswerSink::add(AnswerDelta::Kind kind, std::string_view text) {
  if (text.empty()) return;
  if (deltas_.empty() || deltas_.back().kind != kind) deltas_.push_back({kind, {}});
  std::string& all = deltas_.back().text;
  for (size_t at = 0; at < text.size();) {
    const size_t mark = std::min(text.find(kMark, at), text.size());
    all += text.substr(at, mark - at);
    at = mark + 1;
  }
}

void AnswerSink::Text::put(std::string_view text) {
  if (trimming_) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (text.empty()) return;
    trimming_ = false;
    if (any_) sink_.add(kind_, "\n\n");
  }
  const size_t last = text.find_last_not_of(kSpace);
  if (last == text.npos) {
    held_ += text;
    return;
  }
  release();
  any_ = true;
  sink_.add(kind_, text.substr(0, last + 1));
  held_ = text.substr(last + 1);
}

void AnswerSink::Text::release() {
  sink_.add(kind_, held_);
  held_.clear();
}

void AnswerSink::Text::interrupt() {
  held_.clear();
  trimming_ = true;
}

void AnswerSink::turn() {
  reasoning.interrupt();
  content.interrupt();
}

void AnswerSink::begin_call(std::string_view name, std::string_view id) {
  turn();
  deltas_.push_back({AnswerDelta::Kind::kCallBegin, std::string(name), std::string(id)});
  ++calls_;
}

void AnswerSink::end_call() { deltas_.push_back({AnswerDelta::Kind::kCallEnd, {}}); }

}  // namespace reprise::calls
