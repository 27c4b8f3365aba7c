// A command's settings, from one table: flags, environment, a config file, help, and what is in force.
//
// A setting called kv-memory is the flag --kv-memory, the variable REPRISE_KV_MEMORY and the key `kv-memory`
// of a config file. Of those that are given the flag counts first, then the variable, then the file. Values
// are text until one of them is chosen, so every source is read and refused in the same words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace reprise {

enum class SettingKind : uint8_t { kText, kNumber, kSwitch, kList };

struct Setting {
  std::string name;     // "kv-memory"
  std::string letter;   // "m" for -m; mostly empty
  std::string group;    // heading in the help
  std::string metavar;  // "SIZE"; empty for a switch
  std::string help;
  SettingKind kind = SettingKind::kText;
  bool secret = false;                                  // its value is not printed
  std::function<Result<void>(const std::string&)> set;  // the error says what the value should be
  std::function<std::string()> show;                    // what is in force, in a form that `set` takes
};

using Environment = std::vector<std::pair<std::string, std::string>>;  // REPRISE_ variables, by name
Environment reprise_environment();

class Settings {
 public:
  // Refers to what the settings write to.
  Settings(std::string command, std::vector<Setting> table);

  // Adds the flags, and --config and --print-config, to the command. After parsing call resolve().
  void add_flags(CLI::App& app);
  // A value that counts as the command's flag does, which still counts before it: of a flag that stands
  // before the command.
  void give(std::string name, std::string value) { before_.emplace_back(std::move(name), std::move(value)); }
  // Sets every setting from its first source. Errors are one line that names the source and the fix.
  Result<void> resolve(const Environment& environment);

  bool wants_print() const { return print_; }  // --print-config
  bool is_given(std::string_view name) const;  // not left at its default; after resolve()
  // As a config file, each line with where its value came from.
  std::string print() const;

 private:
  struct Given {
    std::string value;
    std::string source;  // "--port", "REPRISE_PORT", "reprise.toml"
  };
  Result<void> read_file(const std::string& path, std::vector<Given>& given) const;
  size_t index_of(std::string_view name) const;  // table_.size() when there is none

  std::string command_;
  std::vector<Setting> table_;
  std::vector<CLI::Option*> flags_;
  std::vector<std::pair<std::string, std::string>> before_;  // give()
  std::vector<std::string> sources_;                         // of what is in force
  std::string config_;
  bool print_ = false;
};

// The name among `known` that `name` was likely meant to be: at most `most` letters, and a third of them,
// differ. Empty when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known, size_t most = 3);

// How settings of each type read and show their values. `lowest` and `highest` bound them.
void bind_text(Setting& setting, std::string& target);
void bind_switch(Setting& setting, bool& target);
void bind_list(Setting& setting, std::vector<std::string>& target);
void bind_size(Setting& setting, size_t& target);  // "auto" is 0
void bind_seconds(Setting& setting, int64_t& nanos, double lowest, double highest);
void bind_integer(Setting& setting, std::function<int64_t()> get, std::function<void(int64_t)> put,
                  int64_t lowest, int64_t highest);

}  // namespace reprise
