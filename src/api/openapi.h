// The description of the HTTP interface that /openapi.json serves (OpenAPI 3.1; src/api/openapi.json).
#pragma once

#include <string>
#include <string_view>

namespace reprise {

std::string openapi_text(std::string_view version);

}  // namespace reprise
