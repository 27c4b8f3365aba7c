// What is made from the program's own table of commands and flags: shell completions and the manual page.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
}

namespace reprise {

// A script that completes `reprise` in bash, zsh or fish.
Result<std::string> shell_completion(const CLI::App& program, std::string_view shell);
// reprise(1), in the man macros of roff.
std::string manual_page(const CLI::App& program, std::string_view version);

}  // namespace reprise
