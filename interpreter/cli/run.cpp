#include <boxcar/dispatcher/dispatch_trace.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/program.h>
#include <boxcar/ivalue/file_access.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::cli {

void addRun(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a script");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The script, an .ops file")->required()->type_name("");
  const auto trace = std::make_shared<bool>(false);
  command->add_flag("--dispatch-trace", *trace, "Write a line to stderr for every operator call and redispatch");
  const auto sandbox = std::make_shared<bool>(false);
  const auto folders = std::make_shared<SandboxFolders>();
  CLI::Option* sandbox_option = command->add_flag(
      "--sandbox", *sandbox, "Let the script read the files in its folder and below, but touch no other");
  const auto add_folders = [&](const char* name, std::vector<std::string>& names, const char* help) {
    command->add_option(name, names, help)->type_name("DIR")->allow_extra_args(false)->needs(sandbox_option);
  };
  add_folders("--allow-read", folders->readable,
              "In the sandbox: a folder that may be read too; may be given several times");
  add_folders("--allow-write", folders->writable,
              "In the sandbox: a folder that may be written, and not read; may be given several times");
  command->callback([=, &status] {
    // The script itself may always be read, wherever its name leads.
    std::string text = interp::readFile(*file);
    std::optional<FileAccessGuard> guard;
    if (*sandbox) guard.emplace(FileAccess::sandboxed(std::filesystem::path(*file).parent_path(), *folders));
    Program program = Program::compile(std::move(text), *file);
    // From here on: what loading computes ahead is not the script's run.
    if (*trace) setDispatchTraceEnabled(true);
    for (const Diagnostic& warning : program.warnings()) printError(toString(warning));
    program.run();
    status = kDone;
  });
}

}  // namespace boxcar::cli
