#include <boxcar/dispatcher/dispatch_trace.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/memory_limit.h>
#include <boxcar/interpreter/interrupt.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/interpreter/program.h>
#include <boxcar/ivalue/file_access.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::cli {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> args;
  bool trace = false;
  bool sandbox = false;
  SandboxFolders folders;
  RunLimits limits;
  std::string max_memory;
};

// The first Ctrl-C ends the script, the next one the program.
void interruptOnCtrlC() {
  struct sigaction action {};
  action.sa_handler = [](int) { interruptScripts(); };
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

void runScript(const RunOptions& options) {
  // The script itself may always be read, wherever its name leads.
  std::string text = interp::readFile(options.file);
  std::optional<FileAccessGuard> guard;
  if (options.sandbox) {
    const std::filesystem::path folder = options.file == "-" ? "" : std::filesystem::path(options.file).parent_path();
    guard.emplace(FileAccess::sandboxed(folder, options.folders));
  }
  Program program = Program::compile(std::move(text), interp::nameOfFile(options.file));
  for (const Diagnostic& warning : program.warnings()) printError(toString(warning));
  program.setLimits(options.limits);
  interruptOnCtrlC();
  if (!options.max_memory.empty()) limitMemory(parseBytes(options.max_memory));
  // From here on: what loading computes ahead is not the script's run.
  if (options.trace) setDispatchTraceEnabled(true);
  program.run(options.args);
}

}  // namespace

void addRun(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a script");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("FILE", options->file, "The script, an .ops file, or - for standard input")->type_name("");
  command->add_option("ARGS", options->args, "What the script finds in `argv`; options among it stand behind --")
      ->type_name("");
  command->add_flag("--dispatch-trace", options->trace,
                    "Write a line to stderr for every operator call and redispatch");

  CLI::Option* sandbox = command->add_flag("--sandbox", options->sandbox,
                                           "Let the script read the files in its folder and below, but touch no other");
  const auto add_folders = [&](const char* name, std::vector<std::string>& names, const char* help) {
    command->add_option(name, names, help)->type_name("DIR")->allow_extra_args(false)->needs(sandbox);
  };
  add_folders("--allow-read", options->folders.readable,
              "In the sandbox: a folder that may be read too; may be given several times");
  add_folders("--allow-write", options->folders.writable,
              "In the sandbox: a folder that may be written, and not read; may be given several times");

  command
      ->add_option("--max-instructions", options->limits.max_instructions, "End the run after that many instructions")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  command->add_option("--max-depth", options->limits.max_depth, "How many calls may be inside one another (10000)")
      ->type_name("N")
      ->check(CLI::Range(1U, 100'000'000U));
  command->add_option("--max-memory", options->max_memory, "How much memory the run may take: bytes, or 512M, 2G")
      ->type_name("SIZE");
  command->callback([options, rest, &status] {
    takeRest(rest, options->file, options->args);
    runScript(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
