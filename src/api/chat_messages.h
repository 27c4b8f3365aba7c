// A conversation as clients send it, made the conversation that templates expect.
#pragma once

#include <boost/json.hpp>

#include "base/result.h"

namespace reprise {

// In place, message by message:
//   role          system, developer (system unless `developer_role`), user, assistant, tool; else kInvalid
//   content       parts are joined by line breaks into one string, so that both spellings give the same
//   tokens; a part
//                 that is no text leaves a visible placeholder. null stays null beside tool calls (templates
//                 ask for it), else it is "".
//   tool_calls    an empty list is removed; `arguments` that hold a JSON object become that object, as
//                 transformers' chat templates expect; other text stays text
//   reasoning     becomes reasoning_content when that is absent; null ones are removed
// Other keys pass as they are. Errors name the parameter: "messages[3].tool_calls[0].function.name".
Result<void> normalize_messages(boost::json::array& messages, bool developer_role);

}  // namespace reprise
