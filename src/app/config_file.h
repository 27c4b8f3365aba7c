// Config files: the part of TOML that settings need, and INI's bare words. Pure.
//
//   # a comment            ends a line, but not inside quotes
//   [serve]                a section; keys before any belong to every command
//   port = 9000            numbers, true, false, and bare words: no spaces, quotes, commas, brackets or '#'
//   model = "a \"b\".gguf" strings with TOML's escapes
//   host = '::1'           literal strings
//   cors-origin = ["https://a", "https://b"]   arrays of those, also over several lines
//
// Whatever else is in a file is refused with its line: nothing is guessed, cut or joined.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprise {

struct ConfigEntry {
  std::string section;  // "serve"; empty before the first
  std::string key;
  std::vector<std::string> values;  // one, but for an array
  bool array = false;
  size_t line = 0;  // where the key stands, from 1
};

// `name` is the file's, for errors. A key occurs once in its section.
Result<std::vector<ConfigEntry>> parse_config(std::string_view text, std::string_view name);

// `text` as a string of such a file.
std::string config_string(std::string_view text);

}  // namespace reprise
