// No credentials mode: the key travels in a header that the page sets itself, so "*" may be any origin.
#include "api/cors.h"

#include <algorithm>

namespace reprise {

http::Headers cors_headers(const http::Headers& request, const std::vector<std::string>& origins) {
  http::Headers headers;
  const auto origin = request.get("origin");
  if (!origin || origins.empty()) return headers;
  const bool any = std::ranges::find(origins, "*") != origins.end();
  if (!any) headers.set("Vary", "Origin");
  if (!any && std::ranges::find(origins, *origin) == origins.end()) return headers;
  headers.set("Access-Control-Allow-Origin", any ? "*" : *origin);
  headers.set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
  return headers;
}

bool is_preflight(const http::Request& request) {
  return request.method == "OPTIONS" && request.headers.get("origin") &&
         request.headers.get("access-control-request-method");
}

void allow_preflight(const http::Request& request, std::string_view methods, http::Headers& headers) {
  headers.set("Access-Control-Allow-Methods", methods);
  headers.set("Access-Control-Allow-Headers",
              request.headers.get("access-control-request-headers").value_or("authorization, content-type"));
  headers.set("Access-Control-Max-Age", "7200");
}

}  // namespace reprise
