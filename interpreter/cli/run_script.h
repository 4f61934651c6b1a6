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
#include <string>
#include <vector>

namespace boxcar::cli {

// What the commands that run a script know of the run.
struct RunOptions {
  std::string file;
  std::vector<std::string> args;
  bool dispatch_trace = false;
  bool sandbox = false;
  SandboxFolders folders;
  RunLimits limits;
  std::string max_memory;
  std::shared_ptr<MachineOptions> machine = std::make_shared<MachineOptions>();
  // The handlers that the command line asks for, in its order, and what each is made with.
  struct Request {
    const HandlerKind* kind;
    std::vector<IValue> arguments;
  };
  std::vector<Request> handlers;
  // Makes the program of the file's text and what messages call the file.
  std::function<Program(std::string text, std::string name)> read = Program::compile;
  // The command, and what it knows of how far a run is, once its handlers are on.
  std::string command;
  std::function<ProgressCount()> count = [] { return ProgressCount(); };
};

// A file that is written, and the option that names it.
struct OutputName {
  std::string option;
  std::string path;  // empty where the option was not given
};

// Adds the options of a run but for FILE and ARGS.
void addOptionsOfRuns(CLI::App& command, const std::shared_ptr<RunOptions>& options);
// Adds FILE, ARGS and the options of a run. Before the command's callback uses them it calls readRunOptions.
void addRunOptions(CLI::App& command, const std::shared_ptr<RunOptions>& options);
// [rest]: what stood behind `--`. [outputs]: what the command itself writes. A CLI::ValidationError where a file would
// take the place of the script, or of another that is written.
void readRunOptions(const CLI::App& command, const std::vector<std::string>& rest, RunOptions& options,
                    std::vector<OutputName> outputs = {});

// Runs the script under the handlers that the options ask for and under [innermost], if there is one, and finishes all
// of them, also where the script fails; their reports go to stderr. [afterwards] is called when that is done. Throws
// what the script throws, or else what is first thrown of the others; a CLI::ValidationError, and nothing ran, where a
// handler's pattern matches no operator.
void runScript(const RunOptions& options, Handler* innermost = nullptr,
               const std::function<void(bool failed)>& afterwards = {});

}  // namespace boxcar::cli
