#include "app/conversation.h"

#include <boost/json.hpp>

#include "api/json_text.h"

namespace reprise {
namespace {

namespace json = boost::json;

// The member, or null when there is none or `value` is no object.
const json::value* member(const json::value* value, std::string_view key) {
  const json::object* object = value ? value->if_object() : nullptr;
  return object ? object->if_contains(json::string_view(key.data(), key.size())) : nullptr;
}

std::string text_of(const json::value* value) {
  const json::string* text = value ? value->if_string() : nullptr;
  return text ? std::string(text->data(), text->size()) : std::string();
}

std::optional<uint32_t> count_of(const json::value* value) {
  if (!value || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto count = value->to_number<uint32_t>(error);
  if (error) return std::nullopt;
  return count;
}

json::object message(std::string_view role, std::string_view content) {
  json::object object;
  object["role"] = json::string(role.data(), role.size());
  object["content"] = json::string(content.data(), content.size());
  return object;
}

}  // namespace

std::string Conversation::request(std::string_view model, std::string_view prompt) const {
  json::array messages;
  if (!options_.system.empty()) messages.push_back(message("system", options_.system));
  for (const Turn& turn : turns_) {
    messages.push_back(message("user", turn.prompt));
    messages.push_back(message("assistant", turn.answer));
  }
  messages.push_back(message("user", prompt));
  json::object body;
  body["model"] = json::string(model.data(), model.size());
  body["messages"] = std::move(messages);
  body["stream"] = true;
  body["stream_options"] = json::object{{"include_usage", true}};
  if (options_.temperature) body["temperature"] = *options_.temperature;
  if (options_.max_tokens) body["max_tokens"] = *options_.max_tokens;
  return json_text(body);
}

void Conversation::remember(std::string prompt, std::string answer) {
  turns_.push_back({std::move(prompt), std::move(answer)});
}

Result<Piece> parse_piece(std::string_view text) {
  boost::system::error_code error;
  const json::value chunk = json::parse(json::string_view(text.data(), text.size()), error);
  if (error)
    return fail(ErrorKind::kInternal, "the server sent an event that is no JSON: {}", error.message());
  if (const json::value* failure = member(&chunk, "error")) {
    const std::string why = text_of(member(failure, "message"));
    return fail(ErrorKind::kInternal, "{}",
                why.empty() ? "the server reported an error without a message" : why);
  }
  Piece piece;
  const json::value* choices = member(&chunk, "choices");
  if (choices && choices->is_array() && !choices->get_array().empty()) {
    const json::value* choice = &choices->get_array().front();
    const json::value* delta = member(choice, "delta");
    piece.text = text_of(member(delta, "content"));
    piece.reasoning = text_of(member(delta, "reasoning_content"));
    piece.finish_reason = text_of(member(choice, "finish_reason"));
  }
  const json::value* usage = member(&chunk, "usage");
  piece.prompt_tokens = count_of(member(usage, "prompt_tokens"));
  piece.output_tokens = count_of(member(usage, "completion_tokens"));
  piece.cached_tokens = count_of(member(member(usage, "prompt_tokens_details"), "cached_tokens"));
  return piece;
}

std::string error_message(int status, std::string_view body) {
  boost::system::error_code error;
  const json::value answer = json::parse(json::string_view(body.data(), body.size()), error);
  if (!error) {
    const json::value* failure = member(&answer, "error");
    const std::string nested = text_of(member(failure, "message"));
    if (!nested.empty()) return nested;
    for (const json::value* plain : {failure, member(&answer, "message"), member(&answer, "detail")}) {
      const std::string why = text_of(plain);
      if (!why.empty()) return why;
    }
  }
  const std::string_view line = body.substr(0, std::min(body.find('\n'), size_t{200}));
  return line.empty() ? fmt::format("the server answered {}", status)
                      : fmt::format("the server answered {}: {}", status, line);
}

std::string speed_line(const Speed& speed) {
  if (speed.pieces == 0) return "no tokens";
  const uint32_t tokens = speed.output_tokens.value_or(speed.pieces);
  std::string line = fmt::format("{:.2f} s to first token, {} token{}", to_seconds(speed.first - speed.sent),
                                 tokens, tokens == 1 ? "" : "s");
  // The first token ends the wait; the others took the time since.
  if (tokens > 1 && speed.last > speed.first) {
    line += fmt::format(" at {:.1f} tokens/s", (tokens - 1) / to_seconds(speed.last - speed.first));
  }
  if (speed.prompt_tokens) line += fmt::format(", prompt {} tokens", *speed.prompt_tokens);
  if (speed.prompt_tokens && speed.cached_tokens) line += fmt::format(" ({} cached)", *speed.cached_tokens);
  return line;
}

std::string for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f)) {
      // U+0080..U+009F are control characters too; in UTF-8 they are C2 80 .. C2 9F.
      const bool c1 = c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
      if (c1) {
        ++i;
        out += "\xEF\xBF\xBD";
      } else {
        out += text[i];
      }
    } else if (c != '\r') {
      out += "\xEF\xBF\xBD";  // U+FFFD
    }
  }
  return out;
}

}  // namespace reprise
