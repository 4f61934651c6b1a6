#include <boxcar/interpreter/bytecode/disassembler.h>
#include <boxcar/interpreter/bytecode/opcode_page.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/session/program.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace boxcar::cli {

void addDis(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("dis", "Show the bytecode of a script next to its lines");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The script, an .ops file, or - for standard input")->type_name("");
  const auto opcodes = std::make_shared<bool>(false);
  command->add_flag("--opcodes", *opcodes, "Print a description of every instruction in Markdown instead");
  addExamples(*command, {"boxcar dis tool.ops", "boxcar dis --opcodes > opcodes.md"});
  command->callback([file, opcodes, &status] {
    if (*opcodes) {
      if (!file->empty()) throw CLI::ExcludesError("--opcodes", "FILE");
      print(interp::opcodePage());
      status = kDone;
      return;
    }
    if (file->empty()) throw CLI::RequiredError("FILE");
    Diagnostics diagnostics;
    print(interp::disassemble(interp::compileText(interp::readFile(*file), interp::nameOfFile(*file), diagnostics)));
    status = kDone;
  });
}

}  // namespace boxcar::cli
