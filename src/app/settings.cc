// CLI11 parses flags; what they say stays text here. It has environment variables and config files of its
// own, but converts and reports them each in its own way, tells no sources, and guesses at what a file may
// mean.
#include "app/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/config_file.h"
#include "base/clock.h"
#include "base/size.h"

namespace reprise {
namespace {

std::string variable_of(std::string_view name) {
  std::string variable = "REPRISE_";
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return variable;
}

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out.append(out.empty() ? "" : ",").append(item);
  return out;
}

std::string as_toml(const Setting& setting) {
  const std::string value = setting.show();
  switch (setting.kind) {
    case SettingKind::kNumber:
    case SettingKind::kSwitch:
      return value;
    case SettingKind::kText:
      return config_string(value);
    case SettingKind::kList:
      break;
  }
  std::string list;
  for (size_t at = 0; at < value.size();) {
    const size_t end = std::min(value.find(',', at), value.size());
    list.append(list.empty() ? "" : ", ").append(config_string(std::string_view(value).substr(at, end - at)));
    at = end + 1;
  }
  return "[" + list + "]";
}

Result<int64_t> parse_integer(const std::string& text, int64_t lowest, int64_t highest) {
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < lowest || value > highest) {
    return invalid("must be an integer from {} to {}", lowest, highest);
  }
  return value;
}

}  // namespace

Environment reprise_environment() {
  Environment found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (text.starts_with("REPRISE_") && equals != text.npos) {
      found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return found;
}

// Levenshtein's distance.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known, size_t most) {
  std::string best;
  size_t least = std::min(most, std::max<size_t>(name.size() / 3, 2)) + 1;
  for (const std::string& candidate : known) {
    std::vector<size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < name.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i + 1);
      for (size_t j = 0; j < candidate.size(); ++j) {
        const size_t changed = diagonal + (name[i] != candidate[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() < least) {
      least = row.back();
      best = candidate;
    }
  }
  return best;
}

// ---- the table

Settings::Settings(std::string command, std::vector<Setting> table)
    : command_(std::move(command)), table_(std::move(table)), sources_(table_.size(), "default") {}

size_t Settings::index_of(std::string_view name) const {
  return static_cast<size_t>(std::ranges::find(table_, name, &Setting::name) - table_.begin());
}

void Settings::add_flags(CLI::App& app) {
  app.add_option("--config", config_, "Read settings from a TOML file (REPRISE_CONFIG)")
      ->type_name("FILE")
      ->group("Configuration");
  app.add_flag("--print-config", print_, "Print every setting with where its value comes from, and exit")
      ->group("Configuration");
  for (const Setting& setting : table_) {
    const std::string names =
        (setting.letter.empty() ? "" : "-" + setting.letter + ",") + "--" + setting.name;
    const std::string value = setting.show();
    const bool shown = !value.empty() && setting.kind != SettingKind::kSwitch;
    const std::string help = setting.help + (shown ? " [" + value + "]" : "");
    CLI::Option* flag =
        setting.kind == SettingKind::kSwitch ? app.add_flag(names, help) : app.add_option(names, help);
    flag->group(setting.group);
    flag->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (setting.kind != SettingKind::kSwitch) flag->type_name(setting.metavar);
    if (setting.kind == SettingKind::kList) {
      flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->expected(1, 1000)->allow_extra_args(false);
    }
    flags_.push_back(flag);
  }
}

Result<void> Settings::read_file(const std::string& path, std::vector<Given>& given) const {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (std::error_code none; !file || std::filesystem::is_directory(path, none))
    return invalid("the config file {} cannot be read", path);
  text << file.rdbuf();
  std::vector<std::string> names;
  for (const Setting& setting : table_) names.push_back(setting.name);
  const std::vector<ConfigEntry> entries = TRY(parse_config(text.view(), path));
  for (const ConfigEntry& entry : entries) {
    const std::string place = fmt::format("{}:{}", path, entry.line);
    const bool ours = entry.section.empty() || entry.section == command_;
    const size_t index = ours ? index_of(entry.key) : table_.size();
    if (index == table_.size()) {
      const std::string meant = ours ? nearest_name(entry.key, names) : "";
      return invalid("{}: '{}{}' is no setting of reprise {}; {}", place,
                     entry.section.empty() ? "" : entry.section + ".", entry.key, command_,
                     meant.empty() ? fmt::format("`reprise {} --help` lists them", command_)
                                   : fmt::format("did you mean '{}'?", meant));
    }
    if (entry.array && table_[index].kind != SettingKind::kList) {
      return invalid("{}: '{}' takes one value, not an array", place, entry.key);
    }
    if (!given[index].source.empty()) {
      return invalid("{}: '{}' stands here again: it was set in {}", place, entry.key, given[index].source);
    }
    given[index] = {joined(entry.values), place};
  }
  return {};
}

Result<void> Settings::resolve(const Environment& environment) {
  std::vector<Given> given(table_.size());
  std::string config = config_;
  std::vector<std::string> variables{"REPRISE_CONFIG"};
  for (const Setting& setting : table_) variables.push_back(variable_of(setting.name));
  for (const auto& [name, value] : environment) {
    if (name == "REPRISE_CONFIG" && config.empty()) config = value;
  }
  if (!config.empty()) TRY(read_file(config, given));
  for (const auto& [name, value] : environment) {
    const auto known = std::ranges::find(variables, name);
    if (known == variables.end()) {
      // Others may be of other programs: container platforms make variables of the names of services.
      const std::string meant = nearest_name(name, variables, 2);
      if (meant.empty()) continue;
      return invalid("{} is no setting; did you mean {}?", name, meant);
    }
    const auto index = static_cast<size_t>(known - variables.begin());
    if (index > 0) given[index - 1] = {value, name};
  }
  for (const auto& [name, value] : before_) given[index_of(name)] = {value, "--" + name};
  for (size_t i = 0; i < flags_.size(); ++i) {
    if (flags_[i]->count() == 0) continue;
    given[i] = {joined(flags_[i]->reduced_results()), "--" + table_[i].name};
  }
  for (size_t i = 0; i < table_.size(); ++i) {
    if (given[i].source.empty()) continue;
    if (auto done = table_[i].set(given[i].value); !done) {
      const bool service = given[i].source == "REPRISE_PORT" && given[i].value.starts_with("tcp://");
      return std::unexpected(Error{
          ErrorKind::kInvalid,
          fmt::format("{}: '{}' {} {}{}", given[i].source, table_[i].name, done.error().message,
                      table_[i].secret ? "" : fmt::format("(not '{}')", given[i].value),
                      service
                          ? ": Kubernetes sets this for a service named reprise; give the service another "
                            "name or set enableServiceLinks: false"
                          : ""),
          table_[i].name});
    }
    sources_[i] = given[i].source;
  }
  return {};
}

bool Settings::is_given(std::string_view name) const { return sources_.at(index_of(name)) != "default"; }

std::string Settings::print() const {
  std::string out;
  std::string_view group;
  for (size_t i = 0; i < table_.size(); ++i) {
    if (table_[i].group != group) {
      group = table_[i].group;
      out += fmt::format("{}# {}\n", out.empty() ? "" : "\n", group);
    }
    // A secret's line is a comment, so that the whole can be used as a file without setting it to dots.
    const std::string value = table_[i].secret ? "\"...\"" : as_toml(table_[i]);
    out += fmt::format("{:<44} # {}\n",
                       fmt::format("{}{} = {}", table_[i].secret ? "# " : "", table_[i].name, value),
                       sources_[i]);
  }
  return out;
}

// ---- types

void bind_text(Setting& setting, std::string& target) {
  setting.kind = SettingKind::kText;
  setting.set = [&target](const std::string& text) -> Result<void> {
    target = text;
    return {};
  };
  setting.show = [&target] { return target; };
}

void bind_switch(Setting& setting, bool& target) {
  setting.kind = SettingKind::kSwitch;
  setting.set = [&target](const std::string& text) -> Result<void> {
    const bool on = text == "true" || text == "1" || text == "on" || text == "yes";
    if (!on && text != "false" && text != "0" && text != "off" && text != "no" && !text.empty()) {
      return invalid("must be true or false");
    }
    target = on;
    return {};
  };
  setting.show = [&target] { return target ? "true" : "false"; };
}

void bind_list(Setting& setting, std::vector<std::string>& target) {
  setting.kind = SettingKind::kList;
  setting.set = [&target](const std::string& text) -> Result<void> {
    target.clear();
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      if (end > at) target.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return {};
  };
  setting.show = [&target] { return joined(target); };
}

void bind_size(Setting& setting, size_t& target) {
  setting.kind = SettingKind::kText;
  setting.set = [&target](const std::string& text) -> Result<void> {
    if (text == "auto") {
      target = 0;
      return {};
    }
    const auto size = parse_size(text);
    if (!size || *size == 0) return invalid("must be a size like 512M or 16G");
    target = *size;
    return {};
  };
  setting.show = [&target]() -> std::string {
    if (target == 0) return "auto";
    for (const auto& [unit, letter] :
         {std::pair{size_t{1} << 30, 'G'}, {size_t{1} << 20, 'M'}, {size_t{1} << 10, 'K'}}) {
      if (target % unit == 0) return fmt::format("{}{}", target / unit, letter);
    }
    return std::to_string(target);
  };
}

void bind_seconds(Setting& setting, int64_t& nanos, double lowest, double highest) {
  setting.kind = SettingKind::kNumber;
  setting.set = [&nanos, lowest, highest](const std::string& text) -> Result<void> {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || !(value >= lowest && value <= highest)) {
      return invalid("must be a number from {} to {}", lowest, highest);
    }
    nanos = static_cast<int64_t>(value * kSecond);
    return {};
  };
  setting.show = [&nanos] { return fmt::format("{}", to_seconds(nanos)); };
}

void bind_integer(Setting& setting, std::function<int64_t()> get, std::function<void(int64_t)> put,
                  int64_t lowest, int64_t highest) {
  setting.kind = SettingKind::kNumber;
  setting.set = [put = std::move(put), lowest, highest](const std::string& text) -> Result<void> {
    put(TRY(parse_integer(text, lowest, highest)));
    return {};
  };
  setting.show = [get = std::move(get)] { return std::to_string(get()); };
}

}  // namespace reprise
