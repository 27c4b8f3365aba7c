// The settings of `reprise serve`: the table behind its flags, its variables, its config file and its help.
#pragma once

#include <vector>

#include "app/serve.h"
#include "app/settings.h"

namespace reprise {

// Puts the program's defaults into `options`, which must outlive the table.
std::vector<Setting> serve_settings(ServeOptions& options);
// What one setting cannot see: those that are missing or contradict each other. One line with the fix.
Result<void> check_serve_options(const ServeOptions& options, const Settings& settings);

}  // namespace reprise
