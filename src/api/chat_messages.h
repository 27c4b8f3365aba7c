// A conversation as clients send it, made the conversation that templates expect.
#pragma once

#include <cstdint>

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

// What a template makes of messages that not every template knows.
struct TemplateTraits {
  bool developer_role = false;  // else it is rendered as system
  bool null_content = true;     // of an assistant's message that only calls tools; else it is ""
  bool effort = false;          // it reads reasoning_effort itself
  bool thinking = false;        // it has a switch, enable_thinking or thinking
};

// Parts of messages that were no text, and what stands for them: the model sees a placeholder, the operator a
// counter.
struct OmittedParts {
  uint32_t images = 0;
  uint32_t audio = 0;
  uint32_t video = 0;
  uint32_t files = 0;
  uint32_t others = 0;
};

// In place, message by message:
//   role          system, developer (system unless the template knows it), user, assistant, tool; else
//   kInvalid content       parts are joined by line breaks into one string, so that both spellings give the
//   same tokens; a part
//                 that is no text leaves a visible placeholder, or with `strict` is kUnsupported. null stays
//                 null beside tool calls where the template takes it, else it is "".
//   tool_calls    an empty list is removed; `arguments` that hold a JSON object become that object, as
//                 transformers' chat templates expect; other text stays text
//   reasoning     becomes reasoning_content when that is absent; null ones are removed
// Other keys pass as they are. Errors name the parameter: "messages[3].tool_calls[0].function.name".
Result<OmittedParts> normalize_messages(boost::json::array& messages, const TemplateTraits& traits,
                                        bool strict = false);

}  // namespace reprise
