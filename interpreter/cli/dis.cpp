#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/disassembler.h>
#include <boxcar/interpreter/program.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace boxcar::cli {

void addDis(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("dis", "Show the bytecode of a script, beside its lines");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The script, an .ops file")->required()->type_name("");
  command->callback([file, &status] {
    Diagnostics diagnostics;
    print(interp::disassemble(interp::compileText(interp::readFile(*file), *file, diagnostics)));
    status = kDone;
  });
}

}  // namespace boxcar::cli
