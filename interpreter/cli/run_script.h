#pragma once

#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/cli/machine_options.h>
#include <boxcar/interpreter/cli/progress.h>
#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/file_access.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace boxcar::cli {

// What the commands that run a script know about the run.
struct RunOptions {
  std::string file;
  std::optional<std::string> text;  // the script, if it is not in the file: it starts in the current folder
  std::vector<std::string> args;
  bool dispatch_trace = false;
  bool sandbox = false;
  bool prepares_imports = true;
  SandboxFolders folders;
  RunLimits limits;
  std::string max_memory;
  std::shared_ptr<MachineOptions> machine = std::make_shared<MachineOptions>();
  // The handlers that the command line asks for, in its order, and the arguments each is made with.
  struct Request {
    const HandlerKind* kind;
    std::vector<IValue> arguments;
  };
  std::vector<Request> handlers;
  // Makes the program from the file's text and the file's name in messages.
  std::function<Program(std::string text, std::string name)> read = Program::compile;
  // Called after the program's statements, under the same handlers.
  std::function<void(const Program& program)> then = [](const Program&) {};
  // The command, and how it learns the progress of a run once its handlers are on.
  std::string command;
  std::function<ProgressCount()> count = [] { return ProgressCount(); };
};

// An output file, and the option that names it.
struct OutputName {
  std::string option;
  std::string path;  // empty if the option was not given
};

// Adds the options of a run, except FILE and ARGS.
void addOptionsOfRuns(CLI::App& command, const std::shared_ptr<RunOptions>& options);
// Adds FILE, ARGS and the options of a run. The command's callback must call readRunOptions before it uses them.
void addRunOptions(CLI::App& command, const std::shared_ptr<RunOptions>& options);
// [rest]: the words after `--`. [outputs]: the files that the command itself writes. Throws CLI::ValidationError if an
// output file would overwrite the script or another output file.
void readRunOptions(const CLI::App& command, const std::vector<std::string>& rest, RunOptions& options,
                    std::vector<OutputName> outputs = {});

// Runs the script under the handlers that the options ask for and under [innermost], if there is one. Finishes all
// handlers, even if the script fails, and writes their reports to stderr; then calls [afterwards]. Throws what the
// script throws, otherwise the first exception of the other steps. Throws CLI::ValidationError, without running
// anything, if a handler's pattern matches no operator.
void runScript(const RunOptions& options, Handler* innermost = nullptr,
               const std::function<void(bool failed)>& afterwards = {});

}  // namespace boxcar::cli
