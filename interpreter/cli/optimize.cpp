#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/output_file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace boxcar::cli {
namespace {

namespace fs = std::filesystem;

struct OptimizeCommand {
  std::string file;
  std::string output;
  std::vector<std::string> rules;
  bool checks_rules = false;
};

std::string readProgram(const OptimizeCommand& command) {
  // Printed programs are for the current folder.
  const fs::path folder = command.output.empty() ? fs::current_path() : fs::absolute(command.output).parent_path();
  if (interp::isModelPath(command.file)) {
    return interp::importModel(command.file,
                               {.weights = fs::absolute(command.file).lexically_relative(folder).string()});
  }
  std::error_code error;
  const bool stays = command.output.empty() || command.file == "-" ||
                     fs::equivalent(fs::absolute(command.file).parent_path(), folder, error) || error;
  BOXCAR_CHECK(command.file == "-" || command.output.empty() || !fs::equivalent(command.file, command.output, error),
               "'{}' is the script itself: name another file", command.output);
  BOXCAR_CHECK(stays,
               "'{}' must be in the folder of '{}': the paths that a script opens and imports start from its folder",
               command.output, command.file);
  return interp::readFile(command.file);
}

// Throws Error if [path] is a file that no call of this command has written.
void checkReplaceable(const std::string& path, const std::string& output) {
  std::error_code error;
  BOXCAR_CHECK(
      !fs::exists(path, error) || interp::readFile(path).starts_with(interp::kPreparedFileLine),
      "'{}' would be overwritten, and is no file that boxcar optimize has written: name another output than '{}'", path,
      output);
}

void write(const interp::PreparedScript::File& file) {
  OutputFile written(file.name);
  written.write(std::as_bytes(std::span(file.text)));
  written.commit();
}

void optimize(const OptimizeCommand& command) {
  const std::string name = interp::nameOfFile(command.file);
  const interp::PreparedScript prepared = interp::prepareScript(readProgram(command), name, command.rules);
  if (command.output.empty()) return print(prepared.text);
  const std::vector<interp::PreparedScript::File> files = interp::filesOf(prepared, name, command.output);
  for (const auto& file : std::span(files).subspan(1)) checkReplaceable(file.name, command.output);
  for (const auto& file : files) write(file);
  for (const auto& file : std::span(files).subspan(1)) print("wrote " + file.name + ", which it imports\n");
}

// Returns whether both sides of all rules agree.
bool checkRules(const std::string& file) {
  const std::vector<std::string> faults = interp::faultsOfRules(file);
  for (const std::string& fault : faults) reportFailure(fault);
  if (faults.empty()) print("all rules agree with their examples\n");
  return faults.empty();
}

}  // namespace

void addOptimize(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("optimize", "Write a script or a model as a program that runs faster");
  const auto chosen = std::make_shared<OptimizeCommand>();
  command->add_option("FILE", chosen->file, "The script, or a model that import reads")->type_name("")->required();
  command
      ->add_option("-o,--output", chosen->output,
                   "The prepared script; files that it imports are written beside these. Without it, it is printed")
      ->type_name("OUT.ops");
  command->add_option("--rules", chosen->rules, "A script with more rewrites, tried first; can be repeated")
      ->type_name("RULES.ops")
      ->take_all();
  command->add_flag("--check-rules", chosen->checks_rules,
                    "FILE has rewrites: compare both sides of each for the examples of its parameters, write nothing");
  addExamples(*command, {"boxcar optimize resnet18.pt2 -o fast.ops", "boxcar optimize net.ops --rules mine.ops"});
  command->callback([chosen, &status] {
    if (chosen->checks_rules) {
      status = checkRules(chosen->file) ? kDone : kFailed;
      return;
    }
    optimize(*chosen);
    status = kDone;
  });
}

}  // namespace boxcar::cli
