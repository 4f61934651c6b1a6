#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/function_call.h>
#include <boxcar/interpreter/import/script_words.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

namespace boxcar::cli {
namespace {

// The tensors and numbers of a result by their places in it: "logits", "past.0.1".
constexpr std::string_view kCollect = R"(
fn collect_results(Any value, str name, Dict(str, Tensor) found, str[] left_out) -> () {
    if isinstance(value, Tensor) {
        found[name] = value.detach().cpu().contiguous()
    } elif type(value).startswith("Dict") {
        for key, element in value.items() {
            collect_results(element, str(key) if name == "" else f"{name}.{key}", found, left_out)
        }
    } elif type(value).startswith("(") or type(value).endswith("[]") {
        for i, element in enumerate(value) {
            collect_results(element, str(i) if name == "" else f"{name}.{i}", found, left_out)
        }
    } elif value is not None and type(value) != "str" {
        found[name] = tensor(value)
    } else {
        left_out.append(f"{name}: {value}")
    }
}
)";

std::string savingText(const std::string& output) {
  const std::string path = std::filesystem::absolute(output).string();
  const bool is_array = output.ends_with(".npy");
  const std::string save = is_array                   ? "io::save_npy(found.values()[0], path)"
                           : output.ends_with(".npz") ? "io::save_npz(found, path)"
                                                      : "io::save(found, path)";
  return fmt::format(
      "{}found: Dict(str, Tensor) = {{}}\nleft_out: str[] = []\ncollect_results(result, \"result\" if "
      "isinstance(result, Tensor) else \"\", found, left_out)\nassert len(found) {} 0, \"the function returns no "
      "tensors\"\n{}path = {}\n{}\n"
      "if len(left_out) > 0 {{ print(f\"not written, since the file holds numbers: {{', '.join(left_out)}}\") }}\n",
      kCollect, ">", is_array ? "assert len(found) == 1, \"a .npy file has one array: name an .npz file\"\n" : "",
      interp::scriptString(path), save);
}

}  // namespace

void addCall(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("call", "Call a function of a script, or a model, with arrays of files");
  const auto call = std::make_shared<FunctionCall>();
  const auto options = std::make_shared<RunOptions>();
  const auto output = std::make_shared<std::string>();
  addFunctionCall(*command, *call);
  addDeviceOfCall(*command, *call);
  command
      ->add_option("-o,--output", *output,
                   "Write the results to this file instead of printing them: an .npz, .npy or .safetensors file")
      ->type_name("OUT");
  addOptionsOfRuns(*command, options);
  addExamples(*command, {"boxcar call resnet18.pt2 images.npy -o scores.npz",
                         "boxcar call tool.ops scale x=in.npz:x by=3", "boxcar call tool.ops area 2 3.5"});
  command->callback([command, call, options, output, &status] {
    const bool is_known =
        output->empty() || output->ends_with(".npz") || output->ends_with(".npy") || output->ends_with(".safetensors");
    if (!is_known) {
      throw CLI::ValidationError("--output", fmt::format("'{}' does not end with .npz, .npy or .safetensors", *output));
    }
    options->file = call->file;
    readRunOptions(*command, {}, *options, {{"--output", *output}});
    const CallText text = callText(*call);
    std::string script = text.imports;
    script += fmt::format("with {} {{\n    result = {}({})\n}}\n", text.scopes, text.function, text.arguments);
    script += output->empty() ? "print(result)\n" : savingText(*output);
    runText(*options, std::move(script));
    status = kDone;
  });
}

}  // namespace boxcar::cli
