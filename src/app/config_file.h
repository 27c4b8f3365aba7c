// Settings from a file, for the flags that the command line leaves open.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace reprise {

// Reads `path`, TOML or INI: a line for each flag, named as on the command line without its dashes
// (`kv-memory = "16G"`, `strict-model = true`), alone or under a section with the command's name. What
// `command` was already given stays. To be called while CLI11 runs callbacks, from an option added before
// those that the file may set: throws CLI::ParseError, which the parser's caller prints, when the file cannot
// be read or names what is no flag.
void read_config_file(CLI::App& command, const std::string& path);

}  // namespace reprise
