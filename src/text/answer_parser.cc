// Design: tokens become text as always, but that those which are markers come marked (tool_calls/scanner.h);
// the family's parser reads that text. Which tokens are markers follows from how the vocabulary encodes the
// family's marker texts, so the same parser serves vocabularies that have tokens for all, some or none of
// them.
#include "text/answer_parser.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace reprise {
using calls::kMark;
namespace {

// Not the line breaks and words that some vocabularies add.
bool is_markup(std::string_view token) {
  return token.find_first_of("<[") != token.npos || token.contains("｜");
}

// The marker as it comes out of tokens, those of them that are markup marked, and added to `tokens`.
std::string spelled(const Tokenizer& tokenizer, std::string_view marker, std::vector<TokenId>& tokens) {
  std::string text;
  for (TokenId token : tokenizer.encode(marker)) {
    if (tokenizer.is_added(token) && is_markup(tokenizer.bytes(token))) {
      text += kMark;
      tokens.push_back(token);
    }
    text += tokenizer.bytes(token);
  }
  // A vocabulary that puts a space before a text, or cannot spell this one, has no tokens for it either.
  return std::string(text.find(kMark) == text.npos ? marker : std::string_view(text));
}

void sort_unique(std::vector<TokenId>& tokens) {
  std::ranges::sort(tokens);
  tokens.erase(std::ranges::unique(tokens).begin(), tokens.end());
}

}  // namespace

std::string AnswerStyle::names() {
  std::vector<std::string_view> names = {"auto", "none"};
  for (const calls::Family* family : calls::families()) names.push_back(family->name);
  std::ranges::sort(names.begin() + 2, names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<AnswerStyle> AnswerStyle::create(std::string_view family, std::string_view chat_template,
                                        const Tokenizer& tokenizer) {
  AnswerStyle style;
  if (family == "none") return style;
  style.family_ = family == "auto" ? calls::family_of(chat_template) : calls::family_named(family);
  if (style.family_ == nullptr) {
    if (family == "auto") return style;
    return fail(ErrorKind::kNotFound, "no way of writing tool calls is called '{}': use one of {}", family,
                names());
  }
  std::vector<std::string> markers;
  for (std::string_view marker : style.family_->markers) {
    markers.push_back(spelled(tokenizer, marker, style.tokens_));
    if (markers.size() == style.family_->markers_without_tools()) style.reasoning_tokens_ = style.tokens_;
  }
  style.markers_ = calls::Markers(std::move(markers));
  sort_unique(style.tokens_);
  sort_unique(style.reasoning_tokens_);
  const std::string_view end = style.family_->reasoning_end();
  if (!end.empty()) style.reasoning_end_ = tokenizer.encode(end);
  return style;
}

bool AnswerStyle::ends_in_reasoning(std::string_view prompt) const {
  if (!family_) return false;
  const std::string_view begin = family_->reasoning_begin();
  if (begin.empty()) return false;
  const size_t opened = prompt.rfind(begin);
  if (opened == prompt.npos) return false;
  // Only white space may stand behind it: elsewhere it is a word of the conversation.
  return prompt.find_first_not_of(" \t\r\n", opened + begin.size()) == prompt.npos;
}

struct AnswerParser::State {
  State(const AnswerStyle& answer_style, const Tokenizer& tokenizer, const Tools& tools,
        bool begins_in_reasoning)
      : style(answer_style), detokenizer(tokenizer), sink(tools), in_reasoning(begins_in_reasoning) {
    if (!style.family_) return;
    parse = calls::parse_answer(*style.family_, scanner, sink, style.markers_, in_reasoning);
    parse.start();
  }

  bool is_marker(TokenId token) const {
    return std::ranges::binary_search(sink.tools().empty() ? style.reasoning_tokens_ : style.tokens_, token);
  }

  const AnswerStyle& style;
  Detokenizer detokenizer;
  calls::Scanner scanner;
  calls::AnswerSink sink;
  const bool in_reasoning;  // from the beginning
  std::string reasoning;    // all of it, while it may turn out to be the answer
  calls::Parse parse;
};

AnswerParser::AnswerParser(const AnswerStyle& style, const Tokenizer& tokenizer, const Tools& tools,
                           bool in_reasoning)
    : state_(std::make_unique<State>(style, tokenizer, tools, in_reasoning)) {}
AnswerParser::~AnswerParser() = default;
AnswerParser::AnswerParser(AnswerParser&&) noexcept = default;
AnswerParser& AnswerParser::operator=(AnswerParser&&) noexcept = default;

std::vector<AnswerDelta> AnswerParser::push(TokenId token) {
  State& state = *state_;
  std::string text;
  if (state.is_marker(token)) {
    text = state.detokenizer.finish();
    text += kMark;
    text += state.detokenizer.shown(token);
  } else {
    text = state.detokenizer.push(token);
  }
  if (text.empty()) return {};
  if (!state.style.family_) return {{AnswerDelta::Kind::kContent, std::move(text)}};
  state.scanner.push(text);
  std::vector<AnswerDelta> deltas = state.sink.take();
  if (state.in_reasoning)
    for (const AnswerDelta& delta : deltas)
      if (delta.kind == AnswerDelta::Kind::kReasoning) state.reasoning += delta.text;
  return deltas;
}

std::vector<AnswerDelta> AnswerParser::finish(bool stopped) {
  State& state = *state_;
  const std::string text = state.detokenizer.finish();
  if (!state.style.family_) {
    if (text.empty()) return {};
    return {{AnswerDelta::Kind::kContent, text}};
  }
  state.scanner.push(text);
  state.scanner.end();
  // A model that was made to reason may answer at once, and never say that it has done so. Its answer is not
  // to be lost.
  std::vector<AnswerDelta> deltas = state.sink.take();
  if (stopped && state.in_reasoning && state.sink.unfinished_reasoning()) {
    for (const AnswerDelta& delta : deltas) state.reasoning += delta.text;
    if (!state.reasoning.empty()) deltas.push_back({AnswerDelta::Kind::kContent, std::move(state.reasoning)});
  }
  return deltas;
}

}  // namespace reprise
