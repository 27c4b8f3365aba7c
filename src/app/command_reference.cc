// One walk over CLI11's tree gives a list of commands; each shell's script and the manual are written from
// it.
#include "app/command_reference.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace reprise {
namespace {

// What a flag or a positional argument takes.
struct Taken {
  std::string metavar;             // empty: nothing
  bool optional = false;           // "[FILE]"
  bool file = false;               // it is called FILE or PATH
  std::vector<std::string> words;  // "bash|zsh|fish": one of these
};
struct Flag {
  std::vector<std::string> names;  // "--port", "-p"; of a positional its own
  Taken value;
  std::string help;
  std::string group;
};
struct Command {
  std::string words;  // "serve", "bench model"; empty: the program itself
  std::string help;
  std::string footer;
  std::vector<Flag> flags;
  std::vector<Flag> positionals;
  std::vector<std::string> below;  // names of its subcommands
};

Taken taken_by(const CLI::Option& option) {
  Taken value;
  if (option.get_expected_max() == 0 || option.get_type_size() == 0) return value;
  value.metavar = option.get_type_name();
  value.optional = value.metavar.starts_with('[');
  value.file =
      value.metavar.find("FILE") != std::string::npos || value.metavar.find("PATH") != std::string::npos;
  if (value.metavar.find('|') != std::string::npos) {
    std::istringstream words(value.metavar);
    for (std::string word; std::getline(words, word, '|');) value.words.push_back(word);
  }
  return value;
}

void collect(const CLI::App& app, const std::string& words, std::vector<Command>& commands) {
  Command command{words, app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    Flag flag{{}, taken_by(*option), option->get_description(), option->get_group()};
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    if (!flag.names.empty()) {
      command.flags.push_back(std::move(flag));
    } else {
      flag.names.push_back(option->get_name(/*positional=*/true));
      command.positionals.push_back(std::move(flag));
    }
  }
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) command.below.push_back(sub->get_name());
  commands.push_back(std::move(command));
  for (const CLI::App* sub : below) {
    collect(*sub, words.empty() ? sub->get_name() : words + " " + sub->get_name(), commands);
  }
}

std::vector<Command> commands_of(const CLI::App& program) {
  std::vector<Command> commands;
  collect(program, "", commands);
  return commands;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Cases of the shell: 'A'|'B'.
class Pattern {
 public:
  void add(const std::string& text) { text_ += (text_.empty() ? "'" : "|'") + text + "'"; }
  std::string text() const { return text_.empty() ? "''" : text_; }

 private:
  std::string text_;
};

std::string bash(const std::vector<Command>& commands) {
  std::string cases;
  Pattern subcommands, file_flags, value_flags, file_commands;
  for (const Command& command : commands) {
    std::vector<std::string> words = command.below;
    for (const std::string& name : command.below) subcommands.add(command.words + "/" + name);
    for (const Flag& flag : command.flags) {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
      if (flag.value.metavar.empty() || flag.value.optional) continue;
      for (const std::string& name : flag.names)
        (flag.value.file ? file_flags : value_flags).add(command.words + " " + name);
    }
    for (const Flag& flag : command.flags) {
      if (!flag.value.optional || !flag.value.file) continue;
      for (const std::string& name : flag.names) file_flags.add(command.words + " " + name);
    }
    for (const Flag& positional : command.positionals) {
      words.insert(words.end(), positional.value.words.begin(), positional.value.words.end());
      if (positional.value.file) file_commands.add(command.words);
    }
    cases += fmt::format("    '{}') words='{}' ;;\n", command.words, fmt::join(words, " "));
  }
  return fmt::format(R"(# bash completion for reprise: source it, or put it into /etc/bash_completion.d
_reprise_files() {{
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$1"))
}}
_reprise() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $command/$word in {}) command="${{command:+$command }}$word" ;; esac
  done
  # --flag=value comes as three words.
  if [ "$current" = = ]; then current=
  elif [ "$previous" = = ]; then previous=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  COMPREPLY=()
  case "$command $previous" in
    {}) _reprise_files "$current"; return ;;
    {}) return ;;
  esac
  case $current in
    -*) ;;
    *) case $command in {}) _reprise_files "$current"; return ;; esac ;;
  esac
  case $command in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _reprise reprise
)",
                     subcommands.text(), file_flags.text(), value_flags.text(), file_commands.text(), cases);
}

// What _arguments is to offer for a value.
std::string zsh_action(const Taken& value) {
  if (value.file) return "_files";
  return value.words.empty() ? "" : fmt::format("({})", fmt::join(value.words, " "));
}

std::string zsh(const std::vector<Command>& commands) {
  const auto quote = [](std::string text) {
    return replaced(replaced(replaced(std::move(text), "'", "'\\''"), "[", "\\["), "]", "\\]");
  };
  std::string out =
      "#compdef reprise\n# zsh completion for reprise: source it, or put it into a folder of $fpath as "
      "_reprise\n";
  for (const Command& command : commands) {
    out += fmt::format(
        "_reprise{}() {{\n  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C",
        command.words.empty() ? "" : "_" + replaced(command.words, " ", "_"));
    for (const Flag& flag : command.flags) {
      for (const std::string& name : flag.names) {
        out += fmt::format(" \\\n    '{}[{}]", name, quote(flag.help));
        if (!flag.value.metavar.empty())
          out += fmt::format("{}:{}:{}", flag.value.optional ? ":" : "",
                             quote(replaced(flag.value.metavar, ":", " ")), zsh_action(flag.value));
        out += "'";
      }
    }
    for (size_t i = 0; i < command.positionals.size(); ++i) {
      const Flag& positional = command.positionals[i];
      out += fmt::format(" \\\n    '{}:{}:{}'", i + 1, positional.names[0], zsh_action(positional.value));
    }
    if (command.below.empty()) {
      out += "\n}\n";
      continue;
    }
    out += fmt::format(
        " \\\n    '1:command:({})' \\\n    '*::argument:->rest'\n  case $state in rest) case $words[1] in\n",
        fmt::join(command.below, " "));
    for (const std::string& name : command.below) {
      out += fmt::format("    {}) _reprise_{}{} ;;\n", name,
                         command.words.empty() ? "" : replaced(command.words, " ", "_") + "_", name);
    }
    out += "  esac ;; esac\n}\n";
  }
  // Found in $fpath, the file is the body of the function that is to complete right now.
  return out +
         "if [ \"$funcstack[1]\" = _reprise ]; then _reprise \"$@\"; else compdef _reprise reprise; fi\n";
}

std::string fish(const std::vector<Command>& commands) {
  const auto quote = [](std::string text) {
    return replaced(replaced(std::move(text), "\\", "\\\\"), "'", "\\'");
  };
  std::string out =
      "# fish completion for reprise: put it into ~/.config/fish/completions/reprise.fish\ncomplete -c "
      "reprise -f\n";
  for (const Command& command : commands) {
    std::string when = "__fish_use_subcommand";
    if (!command.words.empty()) {
      when = "__fish_seen_subcommand_from " + command.words.substr(command.words.rfind(' ') + 1);
      const size_t space = command.words.find(' ');
      if (space != command.words.npos) {
        when = "__fish_seen_subcommand_from " + command.words.substr(0, space) + "; and " + when;
      }
    }
    for (const Command& sub : commands) {
      const size_t space = sub.words.rfind(' ');
      const std::string parent = space == sub.words.npos ? "" : sub.words.substr(0, space);
      if (sub.words.empty() || parent != command.words) continue;
      out += fmt::format("complete -c reprise -n '{}' -a {} -d '{}'\n", when,
                         sub.words.substr(space == sub.words.npos ? 0 : space + 1), quote(sub.help));
    }
    for (const Flag& flag : command.flags) {
      out += fmt::format("complete -c reprise -n '{}'", when);
      for (const std::string& name : flag.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.value.metavar.empty()) out += flag.value.file ? " -r -F" : " -x";
      out += fmt::format(" -d '{}'\n", quote(flag.help));
    }
    for (const Flag& positional : command.positionals) {
      if (positional.value.file) out += fmt::format("complete -c reprise -n '{}' -F\n", when);
      if (!positional.value.words.empty())
        out += fmt::format("complete -c reprise -n '{}' -a '{}'\n", when,
                           fmt::join(positional.value.words, " "));
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Text as roff takes it: no line may begin like a macro, backslashes and hyphens stand for themselves.
std::string roff(std::string text) {
  text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
  if (text.starts_with('.') || text.starts_with('\'')) text.insert(0, "\\&");
  return replaced(std::move(text), "\n.", "\n\\&.");
}

}  // namespace

Result<std::string> shell_completion(const CLI::App& program, std::string_view shell) {
  const std::vector<Command> commands = commands_of(program);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return invalid("there is no completion for '{}': choose bash, zsh or fish", shell);
}

std::string manual_page(const CLI::App& program, std::string_view version) {
  std::string out = fmt::format(
      ".TH REPRISE 1 \"\" \"reprise {}\" \"User Commands\"\n.SH NAME\nreprise \\- {}\n.SH SYNOPSIS\n",
      version, roff(program.get_description()));
  const std::vector<Command> commands = commands_of(program);
  for (const Command& command : commands) {
    if (!command.below.empty()) continue;
    out += fmt::format(".B reprise {}\n[FLAGS]", roff(command.words));
    for (const Flag& positional : command.positionals) out += " " + roff(upper(positional.names[0]));
    out += "\n.br\n";
  }
  for (const Command& command : commands) {
    out += fmt::format(".SH {}\n", command.words.empty() ? "FLAGS" : upper(command.words));
    if (!command.words.empty()) out += roff(command.help) + "\n";
    for (const Flag& positional : command.positionals)
      out += fmt::format(".TP\n.B {}\n{}\n", roff(upper(positional.names[0])), roff(positional.help));
    std::string group;
    for (const Flag& flag : command.flags) {
      if (flag.group != group && flag.group != "Options") out += fmt::format(".SS {}\n", roff(flag.group));
      group = flag.group;
      std::string names;
      for (const std::string& name : flag.names) names += (names.empty() ? "" : ", ") + name;
      out += fmt::format(".TP\n.B {}{}\n{}\n", roff(names),
                         flag.value.metavar.empty() ? "" : " " + roff(flag.value.metavar), roff(flag.help));
    }
    if (!command.footer.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  }
  return out +
         ".SH ENVIRONMENT\nEvery setting of reprise serve is also a variable: \\-\\-kv\\-memory is "
         "REPRISE_KV_MEMORY.\n"
         "A flag counts before a variable, and that before the config file.\n";
}

}  // namespace reprise
