#include <boxcar/interpreter/bytecode/assembler.h>
#include <boxcar/interpreter/bytecode/disassembler.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/run_script.h>
#include <boxcar/interpreter/session/program.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::cli {
namespace {

interp::CodeUnit assembleText(std::string text, std::string name) {
  return interp::assemble(Source::create(std::move(name), std::move(text)));
}

}  // namespace

void addAsm(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("asm", "Read the output of dis, verify it, and print it again or run it");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("FILE", options->file, "The bytecode as text, or - for standard input")->type_name("FILE");
  const auto runs = std::make_shared<bool>(false);
  CLI::Option* const run = command->add_flag("--run", *runs, "Run the bytecode");
  command->add_option("ARGS", options->args, "With --run: its `argv`; put options after --")->type_name("");
  const size_t own = command->get_options().size();
  addOptionsOfRuns(*command, options);
  const std::vector<CLI::Option*> all = command->get_options();
  for (size_t i = own; i < all.size(); ++i) all[i]->needs(run);
  options->read = [](std::string text, std::string name) {
    return Program::fromUnit(assembleText(std::move(text), std::move(name)));
  };
  addExamples(*command, {"boxcar dis tool.ops > tool.asm", "boxcar asm --run tool.asm",
                         "boxcar asm --run --sandbox --max-seconds 60 tool.asm"});
  command->callback([command, options, runs, rest, &status] {
    readRunOptions(*command, rest, *options);
    if (*runs) {
      runScript(*options);
    } else {
      if (!options->args.empty()) throw CLI::RequiresError("ARGS", "--run");
      print(interp::disassemble(assembleText(interp::readFile(options->file), interp::nameOfFile(options->file))));
    }
    status = kDone;
  });
}

}  // namespace boxcar::cli
