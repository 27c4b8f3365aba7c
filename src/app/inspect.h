// `reprise inspect FILE`.
#pragma once

#include <string>

namespace reprise {
int run_inspect(const std::string& file);
}
