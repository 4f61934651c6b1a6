#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/ivalue/file_access.h>

#include <CLI/CLI.hpp>
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
  // The handlers that the command line asks for, in its order: names, and what stands behind them.
  struct Request {
    std::string name;
    std::string value;
  };
  std::vector<Request> handlers;
};

// Adds FILE, ARGS and the options of a run. Before the command's callback uses them it calls readRunOptions.
void addRunOptions(CLI::App& command, const std::shared_ptr<RunOptions>& options);
// [rest]: what stood behind `--`.
void readRunOptions(const CLI::App& command, const std::vector<std::string>& rest, RunOptions& options);

// Runs the script under [innermost], if there is one, which the caller finishes, and the handlers that the options ask
// for; their reports go to stderr. Throws what the script throws.
void runScript(const RunOptions& options, Handler* innermost = nullptr);

}  // namespace boxcar::cli
