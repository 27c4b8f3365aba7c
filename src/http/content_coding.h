// Content codings of request bodies (RFC 9110 §8.4).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/body_budget.h"

namespace reprise::http {

// `body` without the coding that its Content-Encoding header names: gzip (also as x-gzip), deflate (the zlib
// format of RFC 1950), identity or nothing. Never grows past `limit` bytes, whatever the body claims. `share`
// covers what is held: the body as it came, then both, then what is returned.
// Errors: kUnsupported for another coding, kTooLarge past the limit, kInvalid for a broken body, kUnavailable
// where the budget of bodies has no room.
Result<std::string> decode_content(std::string_view coding, std::string body, size_t limit, BodyShare& share);

}  // namespace reprise::http
