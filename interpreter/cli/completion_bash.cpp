#include <boxcar/interpreter/cli/command_text.h>
#include <boxcar/interpreter/cli/completion.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

namespace boxcar::cli {
namespace {

// Returns what _boxcar_values is asked to offer.
std::string offerOf(const OptionText& option) {
  switch (option.kind) {
    case WordKind::Script: return "script";
    case WordKind::File: return "file";
    case WordKind::Folder: return "folder";
    case WordKind::Plugin: return "plugin";
    case WordKind::Operator: return "operator";
    case WordKind::Choice: return fmt::format("words {}", fmt::join(option.choices, " "));
    case WordKind::Other: break;
  }
  return "nothing";
}

// Returns the shell cases for the words of commands: "COMMAND OPTION" or "COMMAND number".
std::string casesOf(const CommandText& command) {
  std::string cases;
  for (const OptionText& option : command.options) {
    if (option.value.empty()) continue;
    std::string pattern;
    for (const std::string& name : option.names) {
      pattern += fmt::format("{}'{} {}{}'", pattern.empty() ? "" : " | ", command.name, name,
                             option.may_lack_value ? "=" : "");
    }
    cases += fmt::format("    {}) echo '{}' ;;\n", pattern, offerOf(option));
  }
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const OptionText& argument = command.arguments[i];
    cases += fmt::format("    '{} '{}) echo '{}' ;;\n", command.name, argument.repeats ? "[0-9]*" : std::to_string(i),
                         offerOf(argument));
  }
  return cases;
}

std::string optionNamesOf(const CommandText& command) {
  std::string names;
  for (const OptionText& option : command.options) {
    for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// Readline splits words at : and =, as in aten::add and --sort=self. The functions therefore join the parts again, and
// return only what comes after the last split of each offered word.
constexpr std::string_view kBody = R"bash(
_boxcar_offer() {  # WHAT CURRENT
  local what=$1 current=$2
  case $what in
    script)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current"; compgen -f -X '!*.ops' -- "$current") ;;
    file)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folder)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    plugin)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current"; compgen -f -X '!*.so' -- "$current") ;;
    operator)
      mapfile -t COMPREPLY < <(compgen -W "$("$_boxcar_program" ops 2>/dev/null | sed 's/(.*//')" -- "$current") ;;
    words\ *) mapfile -t COMPREPLY < <(compgen -W "${what#words }" -- "$current") ;;
  esac
}

_boxcar() {
  local _boxcar_program=$1 words=() line=$COMP_LINE i word option value
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((i > 0)) && [[ $line != [[:space:]]* && -n $line ]]; then
      words[${#words[@]}-1]+=$word
    else
      line=${line#"${line%%[![:space:]]*}"}
      words+=("$word")
    fi
    line=${line#"$word"}
  done
  # What stands before the cursor alone.
  local current=${words[${#words[@]}-1]} command= number=0 is_rest= pending=
  for ((i = 1; i < ${#words[@]} - 1; ++i)); do
    word=${words[i]}
    if [[ $pending ]]; then pending=; continue; fi
    if [[ $is_rest ]]; then ((++number)); continue; fi
    case $word in
      --) is_rest=1 ;;
      -*=*) ;;
      -*) if [[ $(_boxcar_values "$command" "$word") ]]; then pending=$word; fi ;;
      *) if [[ -z $command ]]; then command=$word; else ((++number)); fi ;;
    esac
  done

  COMPREPLY=()
  local cut=
  if [[ $pending ]]; then
    _boxcar_offer "$(_boxcar_values "$command" "$pending")" "$current"
  elif [[ $is_rest ]]; then
    if ((number > 0)); then _boxcar_offer file "$current"; else _boxcar_offer script "$current"; fi
  elif [[ $current == --*=* ]]; then
    option=${current%%=*} value=${current#*=}
    word=$(_boxcar_values "$command" "$option")
    if [[ -z $word ]]; then word=$(_boxcar_values "$command" "$option="); fi
    _boxcar_offer "$word" "$value"
    if [[ $COMP_WORDBREAKS != *=* ]]; then COMPREPLY=("${COMPREPLY[@]/#/$option=}"); fi
    current=$value
  elif [[ $current == -* ]]; then
    _boxcar_offer "words $(_boxcar_options "$command")" "$current"
  elif [[ -z $command ]]; then
    _boxcar_offer "words $(_boxcar_commands)" "$current"
  else
    _boxcar_offer "$(_boxcar_values "$command" "$number")" "$current"
  fi
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    cut=${current%"${current##*:}"}
    COMPREPLY=("${COMPREPLY[@]#"$cut"}")
  fi
}

complete -F _boxcar boxcar
)bash";

}  // namespace

std::string bashCompletion(const CLI::App& app) {
  CommandText program = describe(app);
  const std::string global = optionNamesOf(program);
  std::string commands;
  std::string options;
  std::string values;
  for (const CommandText& command : program.commands) {
    commands += (commands.empty() ? "" : " ") + command.name;
    options += fmt::format("    {}) echo '{} {}' ;;\n", command.name, optionNamesOf(command), global);
    values += casesOf(command);
  }
  // Every command takes the program's own options.
  program.name = "*";
  for (const OptionText& option : program.options) {
    if (option.value.empty()) continue;
    for (const std::string& name : option.names) {
      values += fmt::format("    *' {}') echo '{}' ;;\n", name, offerOf(option));
    }
  }
  return fmt::format(
             "# Completes the command lines of boxcar in bash; made by `boxcar completion bash`.\n\n"
             "_boxcar_commands() {{ echo '{}'; }}\n\n"
             "_boxcar_options() {{  # COMMAND\n  case $1 in\n{}    *) echo '{}' ;;\n  esac\n}}\n\n"
             "# What the value of an option is, or the argument of that number; nothing of a flag.\n"
             "_boxcar_values() {{  # COMMAND OPTION\n  case \"$1 $2\" in\n{}  esac\n}}\n",
             commands, options, global, values) +
         std::string(kBody);
}

}  // namespace boxcar::cli
