#include <boxcar/backends/cuda/available.h>
#include <boxcar/dispatcher/plugin/plugin.h>  // IWYU pragma: keep, for what loadPlugin() gives
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/choices.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/help_text.h>
#include <boxcar/interpreter/cli/memory_limit.h>
#include <boxcar/interpreter/cli/progress.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/waiting_threads.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/version.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::cli {
namespace {

// Returns the word in the position of a command; empty if there is none.
std::string_view commandOf(int argc, char** argv) {
  int first = 1;
  while (first < argc && argv[first][0] == '-') {
    const std::string_view option = argv[first];
    first += option == "--plugin" || option == "--color" ? 2 : 1;
  }
  return first >= argc ? std::string_view() : argv[first];
}

// Returns the message for an option that [command] does not have, with the option that may be meant. Empty if all of
// them exist.
std::string unknownOption(const CLI::App& app, const CLI::App& command) {
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with('-')) continue;
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> options;
    for (const CLI::App* of : {&command, &app}) {
      for (const CLI::Option* option : of->get_options()) {
        for (const std::string& each : option->get_lnames()) options.push_back("--" + each);
      }
    }
    return fmt::format("there is no option '{}'.{}", name,
                       didYouMean(name, std::vector<std::string_view>(options.begin(), options.end())));
  }
  return {};
}

// Returns the message for a flag that was given a value, such as `--check-nan=false`. Empty if [what], which CLI11
// wrote, is about something else.
std::string flagWithValue(std::string_view what) {
  constexpr std::string_view kWording = " was given a disallowed flag override";
  if (!what.ends_with(kWording)) return {};
  what.remove_suffix(kWording.size());
  return fmt::format("--{0} takes no value: write it as --{0}, or leave it out", what);
}

// Returns the message for an option without its value. Empty if [what], which CLI11 wrote, is about something else.
std::string valueMissing(std::string_view what) {
  constexpr std::string_view kBefore = ": 1 required ";
  constexpr std::string_view kAfter = " missing";
  const size_t at = what.find(kBefore);
  if (at == std::string_view::npos || !what.ends_with(kAfter)) return {};
  const std::string_view option = what.substr(0, at);
  what.remove_prefix(at + kBefore.size());
  what.remove_suffix(kAfter.size());
  return fmt::format("{0} needs a value: {0} {1}", option, what);
}

// Reports what is wrong with a command line, and which --help to read.
void reportUsage(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  const std::string command = commands.empty() ? "" : commands[0]->get_name();
  std::string what = error.what();
  if (std::string flag = flagWithValue(what); !flag.empty()) what = std::move(flag);
  if (std::string missing = valueMissing(what); !missing.empty()) what = std::move(missing);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !commands.empty()) {
    what = unknownOption(app, *commands[0]);
    if (what.empty()) what = fmt::format("there are too many arguments: {}", fmt::join(app.remaining(true), ", "));
  }
  reportFailure(fmt::format("{}\nRun `boxcar{}{} --help` for its usage.", what, command.empty() ? "" : " ", command),
                command);
}

// Returns whether the command line asks for a command that does not exist; reports it if so.
bool reportsUnknownCommand(const CLI::App& app, int argc, char** argv) {
  const std::string_view name = commandOf(argc, argv);
  if (name.empty()) return false;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return false;
    if (!command->get_group().empty()) commands.push_back(command->get_name());
  }
  const std::vector<std::string_view> candidates(commands.begin(), commands.end());
  reportFailure(
      fmt::format("there is no command '{}'.{}\nRun `boxcar --help` for a list.", name, didYouMean(name, candidates)));
  return true;
}

// Returns whether the command line has no command but an option that does not exist; reports it if so.
bool reportsUnknownOption(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> unknown = app.remaining();
  if (!commandOf(argc, argv).empty() || unknown.empty()) return false;
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options()) options.push_back(option->get_name());
  // Many programs call it -v or -V.
  const std::string& name = unknown[0] == "-v" || unknown[0] == "-V" ? "--version" : unknown[0];
  reportFailure(fmt::format("there is no option '{}'.{}\nRun `boxcar --help` for a list.", unknown[0],
                            didYouMean(name, std::vector<std::string_view>(options.begin(), options.end()))));
  return true;
}

// Rejects options such as `--threads=`, which would take the next word as their value.
void checkValues(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw CLI::ArgumentMismatch(fmt::format("{} has no value after the =", word), CLI::ExitCodes::ArgumentMismatch);
  }
}

void addProgramOptions(CLI::App& app, std::vector<std::string>& plugins) {
  app.set_help_flag("-h,--help", "Print the usage of a command");
  app.set_version_flag(
      "--version", [] { return "boxcar " BOXCAR_VERSION "\n" + cuda::summary(); },
      "Print the version of boxcar, and the GPUs that it finds");
  app.add_option("--plugin", plugins, "A plugin to load before the command runs; can be repeated")
      ->type_name("LIB.so")
      ->allow_extra_args(false);
  static const std::map<std::string, ColourChoice> kChoices = {
      {"auto", ColourChoice::Auto}, {"always", ColourChoice::Always}, {"never", ColourChoice::Never}};
  app.add_option_function<std::string>(
         "--color", [](const std::string& choice) { setColourChoice(kChoices.at(choice)); },
         "Whether messages have colours; auto: on a terminal, unless NO_COLOR is set")
      ->type_name("WHEN")
      ->check(oneOf(kChoices))
      ->trigger_on_parse();
  app.add_flag_callback(
      "--no-progress", [] { setProgressAllowed(false); }, "Show no progress line on a terminal");
}

// Makes the flags of all commands refuse a value, unless they are declared with one: `--sandbox=false` would run a
// script without a sandbox.
void refuseFlagValues(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0 && option->get_fnames().empty()) option->disable_flag_override();
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuseFlagValues(*command);
}

using AddWithRest = void(CLI::App& app, const std::vector<std::string>& rest, int& status);
using AddAlone = void(CLI::App& app, int& status);

struct Command {
  std::string_view name;
  AddWithRest* add;
  bool takes_rest;
  bool has_lists;  // whether its arguments may be lists: those of a script or of a function
};

template <AddWithRest* add>
constexpr Command withRest(std::string_view name) {
  return {name, add, true, true};
}

template <AddAlone* add>
constexpr Command alone(std::string_view name, bool has_lists = false) {
  return {name, [](CLI::App& app, const std::vector<std::string>&, int& status) { add(app, status); }, false,
          has_lists};
}

template <AddAlone* add>
constexpr Command callingFunctions(std::string_view name) {
  return alone<add>(name, true);
}

// In the order of the help.
constexpr Command kCommands[] = {
    withRest<addRun>("run"),
    withRest<addRepl>("repl"),
    withRest<addTrace>("trace"),
    withRest<addProfile>("profile"),
    withRest<addRecord>("record"),
    alone<addReplay>("replay"),
    alone<addDiff>("diff"),
    alone<addBench>("bench"),
    alone<addCheck>("check"),
    alone<addFmt>("fmt"),
    alone<addOps>("ops"),
    alone<addExplain>("explain"),
    alone<addTable>("table"),
    alone<addSchema>("schema"),
    alone<addDis>("dis"),
    withRest<addAsm>("asm"),
    alone<addImport>("import"),
    alone<addOptimize>("optimize"),
    callingFunctions<addExport>("export"),
    callingFunctions<addCall>("call"),
    callingFunctions<addBenchModel>("bench-model"),
    alone<addLsp>("lsp"),
    alone<addCompletion>("completion"),
    alone<addManualPage>("manual-page"),
};

const Command* findCommand(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == std::end(kCommands) ? nullptr : found;
}

// Returns whether the command line needs only the command that it names: adding all commands takes a seventh of the
// start-up time.
bool asksForOneCommand(int argc, char** argv) {
  const std::string_view command = commandOf(argc, argv);
  if (command == "completion" || command == "manual-page") return false;
  for (int i = 1; i < argc && argv[i] != command; ++i) {
    if (argv[i] == std::string_view("-h") || argv[i] == std::string_view("--help")) return false;
  }
  return true;
}

// Returns the words before [end] in the order in which CLI11 takes them: the last one is first. A space keeps CLI11
// from taking an argument apart that is a list, `[1, 2]`: takeRest() removes it, and expressions may begin with one.
std::vector<std::string> wordsBefore(char** end, char** argv, bool has_lists) {
  std::vector<std::string> words;
  while (end != argv + 1) {
    const std::string_view word = *--end;
    const bool is_list = has_lists && word.starts_with('[') && word.ends_with(']') && end[-1][0] != '-';
    words.push_back(std::string(is_list ? " " : "").append(word));
  }
  return words;
}

int runCommandLine(int argc, char** argv) {
  CLI::App app("boxcar runs .ops scripts. Every operator call goes through its dispatcher.", "boxcar");
  int status = kDone;
  app.require_subcommand(1);
  app.fallthrough();
  app.formatter(std::make_shared<HelpText>());
  std::vector<std::string> plugins;
  addProgramOptions(app, plugins);
  // Runs before the command's own callback.
  app.parse_complete_callback([&plugins] {
    // The Dispatcher has already printed these errors.
    if (!Dispatcher::singleton().registrationErrors().empty()) throw CLI::RuntimeError(kFailed);
    for (const std::string& plugin : plugins) Dispatcher::singleton().loadPlugin(plugin);
  });
  const std::string_view command = commandOf(argc, argv);
  const Command* const asked = asksForOneCommand(argc, argv) ? findCommand(command) : nullptr;
  // The words after `--` belong to the script, whatever they look like.
  char** const end = argv + argc;
  char** const dashes = asked != nullptr && asked->takes_rest ? std::find(argv + 1, end, std::string_view("--")) : end;
  const std::vector<std::string> rest(std::min(dashes + 1, end), end);
  if (asked != nullptr) {
    asked->add(app, rest, status);
  } else {
    for (const Command& each : kCommands) each.add(app, rest, status);
  }
  refuseFlagValues(app);
  addExamples(app, {"Example: boxcar run script.ops. Help for a command: boxcar COMMAND --help"});
  try {
    checkValues(static_cast<int>(dashes - argv), argv);
    app.parse(wordsBefore(dashes, argv, asked != nullptr && asked->has_lists));
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (reportsUnknownCommand(app, argc, argv)) return kBadUsage;
    // --help and --version also end up here.
    if (error.get_exit_code() == 0) return app.exit(error);
    if (!reportsUnknownOption(app, argc, argv)) reportUsage(app, error);
    return kBadUsage;
  }
  return status;
}

int runGuarded(int argc, char** argv) {
  try {
    return runCommandLine(argc, argv);
  } catch (const CompileError& error) {
    reportError(error);
  } catch (const ScriptError& error) {
    reportError(error);
    reportMemoryLimit(error.reason());
    if (error.cause() == ScriptErrorCause::Interrupt) return kInterrupted;
  } catch (const Error& error) {
    reportFailure(error.message());
    reportMemoryLimit(error.message());
  } catch (const std::bad_alloc&) {
    reportFailure("out of memory");
    reportMemoryLimit("out of memory");
  } catch (const std::exception& error) {
    reportFailure(error.what());
  }
  return kFailed;
}

// Returns the program's exit status: [status] if all of its output was written.
int finishOutput(std::string_view command, int status) {
  // Only the stream's error flag tells about output that was lost earlier.
  const bool lost_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !lost_before) return status;
  reportFailure(lost_before ? "cannot write the output"
                            : std::string("cannot write the output: ") + std::strerror(errno));
  // For `diff`, 1 means that two recordings differ.
  return command == "diff" ? kBadUsage : kFailed;
}

}  // namespace
}  // namespace boxcar::cli

int main(int argc, char** argv) {
  boxcar::cli::restoreEnvironment();
  // If the reader of a pipe goes away (`boxcar ops | head`), the program ends silently.
  std::signal(SIGPIPE, SIG_DFL);
  // A file that grows past what `ulimit -f` allows is an error like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  // These are the files that the shell makes it read and write.
  for (const char* stream : {"/dev/stdin", "/dev/stdout", "/dev/stderr"}) boxcar::protectFile(stream);
  // Without arguments, on a terminal, it is a prompt.
  char repl[] = "repl";
  char* alone[] = {argv[0], repl, nullptr};
  const bool is_alone = argc == 1 && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  const int status = boxcar::cli::runGuarded(is_alone ? 2 : argc, is_alone ? alone : argv);
  return boxcar::cli::finishOutput(boxcar::cli::commandOf(argc, argv), status);
}
