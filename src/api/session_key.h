// Which session a request belongs to: requests of one session share their turn in the fair order.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/headers.h"

namespace reprise {

// From the headers coding clients send, else from the body's own field (prompt_cache_key or user); 0 when
// there is none: the request is then a session of its own.
uint64_t session_key(const http::Headers& headers, std::string_view body_session);

}  // namespace reprise
