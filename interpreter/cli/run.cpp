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
  command->callback([file, &status] {
    Program program = Program::load(*file);
    for (const Diagnostic& warning : program.warnings()) printError(toString(warning));
    program.run();
    status = kDone;
  });
}

}  // namespace boxcar::cli
