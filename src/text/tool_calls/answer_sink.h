// What a parser makes of an answer: reasoning, content and calls, in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/tool_calls/scanner.h"
#include "text/tool_calls/tools.h"

namespace reprise::calls {

struct AnswerDelta {
  enum class Kind : uint8_t {
    kReasoning,
    kContent,
    kCallBegin,      // text: the function's name, whole; id: as the model wrote it, where its family has ids
    kCallArguments,  // of the call begun last; all of a call's joined are one JSON object, each beginning of
                     // them a beginning of it
    kCallEnd,
  };
  Kind kind = Kind::kContent;
  std::string text;
  std::string id = {};
  friend bool operator==(const AnswerDelta&, const AnswerDelta&) = default;
};

// White space is trimmed where the markup, not the model, puts it: around reasoning, before a call, and at
// the beginning of what follows reasoning or a call.
class AnswerSink {
 public:
  explicit AnswerSink(const Tools& tools) : tools_(tools) {}
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;

  const Tools& tools() const { return tools_; }

  class Text final : public Receiver {
   public:
    Text(AnswerSink& sink, AnswerDelta::Kind kind) : sink_(sink), kind_(kind) {}
    void put(std::string_view text) override;
    void release();    // the white space at its end
    void interrupt();  // it may go on later, as another paragraph
    bool any() const { return any_; }

   private:
    friend class AnswerSink;
    AnswerSink& sink_;
    AnswerDelta::Kind kind_;
    std::string held_;       // white space that only counts if more follows
    bool trimming_ = false;  // as does white space at the beginning
    bool any_ = false;
  };
  class Arguments final : public Receiver {
   public:
    explicit Arguments(AnswerSink& sink) : sink_(sink) {}
    void put(std::string_view json) override { sink_.add(AnswerDelta::Kind::kCallArguments, json); }

   private:
    AnswerSink& sink_;
  };
  Text reasoning{*this, AnswerDelta::Kind::kReasoning};
  Text content{*this, AnswerDelta::Kind::kContent};
  Arguments arguments{*this};

  void turn();  // from reasoning to content or back
  void begin_call(std::string_view name, std::string_view id = {});
  void end_call();
  size_t calls() const { return calls_; }
  // The answer ended inside of reasoning that was all there was.
  void leave_reasoning_unfinished() { unfinished_ = calls_ == 0 && !content.any(); }
  bool unfinished_reasoning() const { return unfinished_; }

  // Since it was last asked; what belongs together is one.
  std::vector<AnswerDelta> take() { return std::exchange(deltas_, {}); }

 private:
  void add(AnswerDelta::Kind kind, std::string_view text);

  const Tools& tools_;
  std::vector<AnswerDelta> deltas_;
  size_t calls_ = 0;
  bool unfinished_ = false;
};

}  // namespace reprise::calls
