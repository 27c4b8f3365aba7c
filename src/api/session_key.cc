#include "api/session_key.h"

#include <algorithm>

#include "base/hash.h"

namespace reprise {

uint64_t session_key(const http::Headers& headers, std::string_view body_session) {
  std::string_view session;
  for (std::string_view name :
       {"x-claude-code-session-id", "session-id", "thread-id", "session_id", "x-session-id",
        "x-session-affinity", "x-opencode-session", "x-litellm-session-id"}) {
    session = headers.get(name).value_or("");
    if (!session.empty()) break;
  }
  if (session.empty()) session = body_session;
  return session.empty() ? 0 : std::max<uint64_t>(hash(session), 1);
}

}  // namespace reprise
