#include <boxcar/dispatcher/dispatch_trace.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/program.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace boxcar::cli {

void addRun(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a script");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The script, an .ops file")->required()->type_name("");
  const auto trace = std::make_shared<bool>(false);
  command->add_flag("--dispatch-trace", *trace, "Write a line to stderr for every operator call and redispatch");
  command->callback([file, trace, &status] {
    Program program = Program::load(*file);
    // From here on: what loading computes ahead is not the script's run.
    if (*trace) setDispatchTraceEnabled(true);
    for (const Diagnostic& warning : program.warnings()) printError(toString(warning));
    program.run();
    status = kDone;
  });
}

}  // namespace boxcar::cli
