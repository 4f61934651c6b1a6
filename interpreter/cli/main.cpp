#include <boxcar/backends/cuda/available.h>
#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/dispatcher/plugin.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/script_error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/version.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {
namespace {

// What is wrong with a command line, and whom to ask.
std::string usageError(const CLI::App* app, const CLI::Error& error) {
  const auto commands = app->get_subcommands();
  const std::string command = commands.empty() ? "" : " " + commands[0]->get_name();
  return fmt::format("boxcar{}: {}\nRun `boxcar{} --help` to see how it is called.\n", command, error.what(), command);
}

// The word that stands where a command should; empty where there is none.
std::string_view commandOf(int argc, char** argv) {
  int first = 1;
  while (first < argc && std::string_view(argv[first]).starts_with("--plugin")) {
    first += std::string_view(argv[first]) == "--plugin" ? 2 : 1;
  }
  return first >= argc || argv[first][0] == '-' ? std::string_view() : argv[first];
}

// A sentence where the command line asks for a command that does not exist, else nothing.
std::string unknownCommand(const CLI::App& app, int argc, char** argv) {
  const std::string_view name = commandOf(argc, argv);
  if (name.empty()) return {};
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return {};
    commands.push_back(command->get_name());
  }
  const std::vector<std::string_view> candidates(commands.begin(), commands.end());
  return fmt::format("boxcar: there is no command '{}'.{}\nRun `boxcar --help` to see what there is.\n", name,
                     didYouMean(name, candidates));
}

int runCommandLine(int argc, char** argv) {
  CLI::App app("boxcar runs .ops scripts, whose every operator call goes through its dispatcher.", "boxcar");
  int status = kDone;
  app.set_version_flag("--version", [] { return "boxcar " BOXCAR_VERSION "\n" + cuda::summary(); });
  app.require_subcommand(1);
  app.failure_message(usageError);
  app.fallthrough();
  std::vector<std::string> plugins;
  app.add_option("--plugin", plugins, "A plugin, loaded before the command runs; may be given several times")
      ->type_name("LIB.so")
      ->allow_extra_args(false);
  // Before the command's own callback.
  app.parse_complete_callback([&plugins] {
    // The Dispatcher has written what they are.
    if (!Dispatcher::singleton().registrationErrors().empty()) throw CLI::RuntimeError(kFailed);
    for (const std::string& plugin : plugins) Dispatcher::singleton().loadPlugin(plugin);
  });
  // What stands behind -- is the script's, whatever it looks like.
  const std::string_view command = commandOf(argc, argv);
  constexpr std::string_view kTakeRest[] = {"run", "asm", "trace", "profile", "record"};
  const bool takes_rest = std::ranges::find(kTakeRest, command) != std::end(kTakeRest);
  char** const end = argv + argc;
  char** const dashes = takes_rest ? std::find(argv + 1, end, std::string_view("--")) : end;
  const std::vector<std::string> rest(std::min(dashes + 1, end), end);
  addRun(app, rest, status);
  addTrace(app, rest, status);
  addProfile(app, rest, status);
  addRecord(app, rest, status);
  addReplay(app, status);
  addDiff(app, status);
  addBench(app, status);
  addCheck(app, status);
  addFmt(app, status);
  addOps(app, status);
  addExplain(app, status);
  addTable(app, status);
  addSchema(app, status);
  addDis(app, status);
  addAsm(app, rest, status);
  addLsp(app, status);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (const std::string text = unknownCommand(app, argc, argv); !text.empty()) {
      printError(text);
      return kBadUsage;
    }
    return app.exit(error) == 0 ? kDone : kBadUsage;
  }
  return status;
}

int runGuarded(int argc, char** argv) {
  try {
    return runCommandLine(argc, argv);
  } catch (const CompileError& error) {
    printError(error.message());
  } catch (const ScriptError& error) {
    printError("error: " + error.message() + "\n");
    if (error.cause() == ScriptErrorCause::Interrupt) return kInterrupted;
  } catch (const Error& error) {
    printError("boxcar: " + error.message() + "\n");
  } catch (const std::bad_alloc&) {
    printError("boxcar: out of memory\n");
  } catch (const std::exception& error) {
    printError(std::string("boxcar: ") + error.what() + "\n");
  }
  return kFailed;
}

}  // namespace
}  // namespace boxcar::cli

int main(int argc, char** argv) {
  // Where the reader of a pipe goes away (`boxcar ops | head`) the program ends without a word.
  std::signal(SIGPIPE, SIG_DFL);
  const int status = boxcar::cli::runGuarded(argc, argv);
  if (std::fflush(stdout) != 0) {
    boxcar::cli::printError(std::string("boxcar: cannot write the output: ") + std::strerror(errno) + "\n");
    return boxcar::cli::kFailed;
  }
  return status;
}
