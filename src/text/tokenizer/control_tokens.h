// Which added tokens are control tokens: only a chat template (or a raw prompt) may write them, and text that
// spells one is not it. Model files do not say: many mark the tokens that open and close a turn as ordinary
// ones (DeepSeek's <｜User｜>, Gemma's <start_of_turn>). Whether a token is shown when it is decoded is
// another question.
#pragma once

#include <string_view>

namespace reprise {

// By its form: <|…|>, <｜…｜>, <unused…> and the like, as converters to GGUF see it.
bool looks_like_control(std::string_view token);
// The template's source has it, and it is markup: it begins and ends with a bracket or the like. (Words and
// runs of spaces, which are added tokens as well, occur in templates by chance.)
bool is_markup_of(std::string_view chat_template, std::string_view token);

}  // namespace reprise
