#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/program.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace boxcar::cli {

void addCheck(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("check", "Say what is wrong in a script, without running it");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The script, an .ops file")->required()->type_name("");
  command->callback([file, &status] {
    Diagnostics diagnostics;
    interp::compileText(interp::readFile(*file), *file, diagnostics);
    for (const Diagnostic& warning : diagnostics.all()) printError(toString(warning));
    status = kDone;
  });
}

}  // namespace boxcar::cli
