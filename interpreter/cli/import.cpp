#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/tensor.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace boxcar::cli {
namespace {

struct ImportCommand {
  std::string model;
  std::string output;
  bool in_place = false;
  bool is_lenient = false;
};

// Writes the weights of a model to a safetensors file, but for those that are others under second names, [tied].
void writeWeights(const std::string& model, const std::string& path, const std::vector<std::string>& tied) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  Stack stack;
  push(stack, std::filesystem::absolute(model).string());
  dispatcher.findSchemaOrThrow("io::load", "").callBoxed(stack);
  auto weights = pop(stack).to<Dict<std::string, Tensor>>();
  for (const std::string& name : tied) weights.erase(name);
  push(stack, weights);
  push(stack, std::filesystem::absolute(path).string());
  dispatcher.findSchemaOrThrow("io::save", "").callBoxed(stack);
}

void importTo(const ImportCommand& command) {
  namespace fs = std::filesystem;
  BOXCAR_CHECK(command.output.ends_with(".ops"),
               "the script cannot be called '{}': its name must end in .ops, so that it is no model or other file",
               command.output);
  std::vector<std::string> tied;
  const std::string name = fs::path(command.output).filename().string();
  BOXCAR_CHECK(!interp::isLibraryScript(name),
               "the script cannot be called '{}': that is a script of boxcar's own, which imports in this folder would "
               "no longer find; choose another name",
               name);
  interp::ImportOptions options{.weights = {}, .is_lenient = command.is_lenient, .tied_weights = &tied};
  fs::path weights;
  if (command.in_place) {
    const fs::path folder = fs::absolute(command.output).parent_path();
    options.weights = fs::absolute(command.model).lexically_relative(folder).string();
  } else {
    weights = fs::path(command.output).replace_extension(".safetensors");
    options.weights = weights.filename().string();
  }
  const std::string script = interp::importModel(command.model, options);
  if (!command.in_place) writeWeights(command.model, weights.string(), tied);
  OutputFile file(command.output);
  file.write(std::as_bytes(std::span(script)));
  file.commit();
}

}  // namespace

void addImport(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("import", "Write a model that PyTorch saved as a script and its weights");
  const auto chosen = std::make_shared<ImportCommand>();
  command->add_option("MODEL", chosen->model, "The model, of torch.export (.pt2) or torch.jit.save (.pt)")
      ->type_name("")
      ->required();
  command->add_option("-o,--output", chosen->output, "The script; the weights go beside it, as .safetensors")
      ->type_name("OUT.ops")
      ->required();
  command->add_flag("--in-place", chosen->in_place, "Let the script load its weights from the archive itself");
  command->add_flag("--lenient", chosen->is_lenient, "Put a call that fails where something cannot be had");
  addExamples(*command, {"boxcar import resnet18.pt2 -o resnet18.ops", "boxcar import scripted.pt -o scripted.ops"});
  command->callback([chosen, &status] {
    importTo(*chosen);
    status = kDone;
  });
}

}  // namespace boxcar::cli
