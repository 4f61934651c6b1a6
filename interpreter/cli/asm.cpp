#include <boxcar/interpreter/assembler.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/disassembler.h>
#include <boxcar/interpreter/program.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::cli {
namespace {

struct AsmOptions {
  std::string file;
  std::vector<std::string> args;
  bool runs = false;
};

void assembleFile(const AsmOptions& options) {
  SourcePtr text = Source::create(interp::nameOfFile(options.file), interp::readFile(options.file));
  interp::CodeUnit unit = interp::assemble(std::move(text));
  if (options.runs) {
    Program::fromUnit(std::move(unit)).run(options.args);
  } else {
    print(interp::disassemble(unit));
  }
}

}  // namespace

void addAsm(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("asm", "Read what dis prints, check it, and print it again or run it");
  const auto options = std::make_shared<AsmOptions>();
  command->add_option("FILE", options->file, "The bytecode as text, or - for standard input")->type_name("FILE");
  command->add_flag("--run", options->runs, "Run it as if it were the script");
  command->add_option("ARGS", options->args, "With --run: what it finds in `argv`; options among it stand behind --")
      ->type_name("");
  addExamples(*command, {"boxcar dis tool.ops > tool.asm", "boxcar asm --run tool.asm"});
  command->callback([options, rest, &status] {
    takeRest(rest, options->file, options->args);
    if (!options->runs && !options->args.empty()) throw CLI::RequiresError("ARGS", "--run");
    assembleFile(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
