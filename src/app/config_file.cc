// CLI11 has config files of its own, but only for the program's top level: on a subcommand set_config() does
// nothing. Its parser of them is used here; what the file says becomes results of the options, which CLI11
// then converts and checks like arguments.
#include "app/config_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace reprise {

void read_config_file(CLI::App& command, const std::string& path) {
  CLI::ConfigTOML format;
  for (const CLI::ConfigItem& item : format.from_file(path)) {
    if (item.name == "++" || item.name == "--") continue;  // a section begins or ends
    const bool ours = item.parents.empty() || item.parents == std::vector<std::string>{command.get_name()};
    CLI::Option* option = ours ? command.get_option_no_throw("--" + item.name) : nullptr;
    if (!option || !option->get_configurable()) {
      throw CLI::ConfigError(
          fmt::format("{}: '{}' is no setting of reprise {}; `reprise {} --help` lists them", path,
                      item.fullname(), command.get_name(), command.get_name()),
          CLI::ExitCodes::ConfigError);
    }
    if (option->count() > 0) continue;
    if (option->get_expected_min() == 0) {
      option->add_result(option->get_flag_value(item.name, format.to_flag(item)));
    } else {
      option->add_result(item.inputs);
    }
  }
}

}  // namespace reprise
