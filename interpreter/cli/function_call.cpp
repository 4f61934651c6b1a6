#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/function_call.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/function_object.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

namespace boxcar::cli {
namespace {

bool isName(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string absolute(std::string_view path) { return std::filesystem::absolute(path).lexically_normal().string(); }

// Moves all tensors of a dict to a device.
constexpr std::string_view kMoveAll = R"(
fn move_all_tensors(Dict(str, Tensor) tensors, str device) -> Dict(str, Tensor) {
    for name in tensors {
        tensors[name] = tensors[name].to(device)
    }
    return tensors
}
)";

// Returns the expression for a value; an array of a file, on [device] if that is not empty, or the text itself.
std::string valueText(const std::string& word, const std::string& device) {
  constexpr std::array<std::string_view, 6> kFiles = {".npz", ".safetensors", ".pt", ".pth", ".gguf", ".bin"};
  const std::string there = device.empty() ? "" : fmt::format(".to({})", interp::scriptString(device));
  if (word.ends_with(".npy")) return fmt::format("io::load_npy({}){}", interp::scriptString(absolute(word)), there);
  const auto endsLikeFile = [&](std::string_view path) {
    return std::ranges::any_of(kFiles, [&](std::string_view end) { return path.ends_with(end); });
  };
  if (endsLikeFile(word)) {
    const std::string all = fmt::format("io::load({})", interp::scriptString(absolute(word)));
    return device.empty() ? all : fmt::format("move_all_tensors({}, {})", all, interp::scriptString(device));
  }
  for (size_t at = word.find(':'); at != std::string::npos; at = word.find(':', at + 1)) {
    const std::string_view path = std::string_view(word).substr(0, at);
    if (!endsLikeFile(path)) continue;
    return fmt::format("io::load({})[{}]{}", interp::scriptString(absolute(path)),
                       interp::scriptString(word.substr(at + 1)), there);
  }
  return word;
}

CallText::Argument argumentIn(const std::string& word, const std::string& device) {
  const size_t sign = word.find('=');
  if (sign == std::string::npos || !isName(std::string_view(word).substr(0, sign)) || word.substr(sign, 2) == "==") {
    return {{}, valueText(word, device)};
  }
  return {word.substr(0, sign), valueText(word.substr(sign + 1), device)};
}

// Whether a name means something without the file: an operator, or a function of the language.
bool isOfLanguage(const std::string& name) {
  return !Dispatcher::singleton().findOverloads("aten::" + name).empty() || interp::findBuiltin(name).has_value();
}

// Functions of the script that gives the function and its arguments to traceCall().
constexpr std::string_view kGiveFunction = "function_to_trace";
constexpr std::string_view kGiveArgument = "argument_to_trace_";

// Returns what a function without arguments gives.
IValue resultOf(const Program& program, std::string_view name) {
  Stack stack;
  program.function(name).call(stack);
  return pop(stack);
}

// Returns the function without writes, or as it is without [views].
IValue functionalized(IValue function, std::string_view views) {
  if (views.empty()) return function;
  Stack stack{std::move(function), std::string(views)};
  Dispatcher::singleton().findSchemaOrThrow("func::functionalize", "").callBoxed(stack);
  return pop(stack);
}

}  // namespace

void addFunctionCall(CLI::App& command, FunctionCall& call) {
  command.add_option("FILE", call.file, "The script, an .ops file, or the model, a .pt2 or .pt archive")
      ->type_name("")
      ->required();
  command
      .add_option("WORDS", call.words,
                  "FUNCTION, which may be left out for a model, and its arguments: VALUE or NAME=VALUE. A VALUE is a "
                  "file (.npy, .npz, .safetensors), FILE:KEY for one array in it, or an expression")
      ->type_name("");
}

void addDeviceOfCall(CLI::App& command, FunctionCall& call) {
  command
      .add_option(
          "--device", call.device,
          "Call the function on this device, such as cuda:0, with a model's weights and the arrays of files there")
      ->type_name("DEVICE")
      ->check([](const std::string& device) {
        try {
          static_cast<void>(Device(device));
          return std::string();
        } catch (const Error& error) {
          return error.message();
        }
      });
}

CallText callText(const FunctionCall& call) {
  CallText text;
  std::span<const std::string> words = call.words;
  const bool has_function =
      !words.empty() && isName(words[0]) && words[0] != "None" && words[0] != "True" && words[0] != "False";
  if (!has_function && !interp::isModelPath(call.file)) {
    throw CLI::ValidationError("FUNCTION", "a script has several functions: name the one to call, after FILE");
  }
  text.function = has_function ? words[0] : "forward";
  if (has_function) words = words.subspan(1);
  std::vector<std::string> arguments;
  for (const std::string& word : words) {
    const CallText::Argument& argument = text.values.emplace_back(argumentIn(word, call.device));
    arguments.push_back(argument.name.empty() ? argument.value : fmt::format("{}={}", argument.name, argument.value));
  }
  const bool moves_weights = !call.device.empty() && interp::isModelPath(call.file);
  if (moves_weights && call.file.find(".pt2") == std::string::npos) {
    throw CLI::ValidationError("--device",
                               "the weights of a TorchScript archive are fields of its objects, which stay where they "
                               "are; export the model with torch.export to run it on another device");
  }
  text.imports = fmt::format("import {}\n", interp::scriptString(absolute(call.file)));
  if (isOfLanguage(text.function) || moves_weights) {
    // Otherwise a word that the file does not have would call the operator.
    text.imports = fmt::format("import {} as program\n", interp::scriptString(absolute(call.file)));
    text.function = "program." + text.function;
  }
  text.scopes = "no_grad()";
  if (!call.device.empty()) {
    const std::string device = interp::scriptString(call.device);
    text.scopes += fmt::format(", device({})", device);
    text.imports += kMoveAll;
    if (moves_weights) text.imports += fmt::format("move_all_tensors(program.parameters(), {})\n", device);
  }
  text.arguments = fmt::format("{}", fmt::join(arguments, ", "));
  return text;
}

void traceCall(const FunctionCall& call, const RunOptions& options, Tracer& tracer, std::string_view views) {
  const CallText text = callText(call);
  // The functions run apart from the statements, so that the trace has nothing but the call.
  std::string script = text.imports;
  script += fmt::format("fn {}() -> Function {{\n    return {}\n}}\n", kGiveFunction, text.function);
  for (size_t i = 0; i < text.values.size(); ++i) {
    script += fmt::format("fn {}{}() -> Any {{\n    return {}\n}}\n", kGiveArgument, i, text.values[i].value);
  }
  RunOptions own = options;
  own.text = std::move(script);
  own.then = [&](const Program& program) {
    const NoGradGuard no_grad;
    const IValue held = functionalized(resultOf(program, kGiveFunction), views);
    const FunctionObject& function = *functionIn(held);
    std::vector<IValue> values;
    std::vector<std::string_view> keywords;
    for (size_t i = 0; i < text.values.size(); ++i) {
      values.push_back(resultOf(program, fmt::format("{}{}", kGiveArgument, i)));
      keywords.push_back(text.values[i].name);
    }
    const FunctionPtr traced =
        makeFunction(function.schema(), [&](Stack& stack) { tracer.callFunction(function, stack); });
    interp::callFunction(*traced, values, keywords);
  };
  runScript(own, nullptr, [&tracer](bool failed) { printError(tracer.finish(failed)); });
}

void runText(const RunOptions& options, std::string text) {
  RunOptions own = options;
  own.text = std::move(text);
  runScript(own);
}

}  // namespace boxcar::cli
