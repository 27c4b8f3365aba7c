// Cross-origin requests of web pages (the Fetch standard's CORS protocol, fetch.spec.whatwg.org §3.2). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"

namespace reprise {

// The headers that let the page that sent a request of these headers read the answer; none when its origin is
// not among `origins` ("*" is any), or when no page sent it.
http::Headers cors_headers(const http::Headers& request, const std::vector<std::string>& origins);

// Whether `request` asks if a page may send another one.
bool is_preflight(const http::Request& request);
// What a preflight's answer adds to them. `methods`: those of the route.
void allow_preflight(const http::Request& request, std::string_view methods, http::Headers& headers);

}  // namespace reprise
