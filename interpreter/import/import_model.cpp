#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/program_text.h>
#include <boxcar/interpreter/import/pt2/tied_weights.h>
#include <boxcar/interpreter/import/torchscript/compilation_unit.h>
#include <boxcar/interpreter/import/torchscript/program_text.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/program_path.h>
#include <boxcar/ivalue/stack.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

// Calls an operator of one argument. Archives are read by operators, like all files that scripts read.
IValue resultOf(const char* op, IValue argument) {
  Stack stack;
  push(stack, std::move(argument));
  Dispatcher::singleton().findSchemaOrThrow(op, "").callBoxed(stack);
  return pop(stack);
}

Dict<std::string, Tensor> membersOf(const std::string& path) {
  return resultOf("io::load_zip", path).to<Dict<std::string, Tensor>>();
}

// The lines of Python that a file of a TorchScript archive comes from, of the member beside it.
std::vector<torchscript::SourceLine> linesOf(const Tensor& debug_pkl) {
  const IValue lines = resultOf("io::torchscript_lines", debug_pkl);
  std::vector<torchscript::SourceLine> result;
  for (size_t i = 0; i < lines.length(); ++i) {
    const IValue each = lines.elementAt(i);
    result.push_back(
        {static_cast<size_t>(each.elementAt(0).toInt()), each.elementAt(1).toStringRef(), each.elementAt(2).toInt()});
  }
  return result;
}

Dict<std::string, Tensor> weightsOf(const std::string& path) {
  return resultOf("io::load", path).to<Dict<std::string, Tensor>>();
}

constexpr std::string_view kOnnx = ".onnx";
constexpr std::string_view kHoldsNoProgram =
    "'{}' holds no program, but tensors or other values, which io::load reads; a program is written in Python by "
    "torch.export.save, or torch.jit.save";

// What torch.save wrote before PyTorch 1.6 is a pickle, and no zip archive.
void checkIsNoOldCheckpoint(const std::string& path) {
  constexpr char kBeginOfPickle = '\x80';
  std::ifstream file(path, std::ios::binary);
  BOXCAR_CHECK(file.get() != std::char_traits<char>::to_int_type(kBeginOfPickle), kHoldsNoProgram, path);
}

std::string_view textOf(const Tensor& bytes) {
  return {reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>()), static_cast<size_t>(bytes.numel())};
}

// Puts the text into the layout of formatSource().
std::string formatted(const std::string& path, std::string text) {
  Diagnostics diagnostics;
  return formatSource(Source::create(path, std::move(text)), diagnostics);
}

void checkNothingIsMissing(const std::string& path, const std::vector<std::string>& missing,
                           const ImportOptions& options) {
  // Such as vmap.
  const bool takes_functions = std::ranges::any_of(missing, [](const std::string& part) {
    return part.starts_with("torch.ops.higher_order.") || part.starts_with("torch._functorch.");
  });
  BOXCAR_CHECK(
      missing.empty() || options.is_lenient,
      "'{}' cannot be imported, because boxcar does not have\n  {}\nA plugin may bring an operator; {}--lenient "
      "imports the rest",
      path, fmt::join(missing, "\n  "),
      takes_functions ? "in PyTorch, run_decompositions() may write what takes functions in operators; " : "");
}

std::string importTorchScript(const std::string& path, const Dict<std::string, Tensor>& members,
                              const ImportOptions& options) {
  const std::string file = std::filesystem::path(path).filename().string();
  const GenericDict archive = resultOf("io::load_torchscript", path).toGenericDict();
  const IValue module = archive.at("data");
  const IValue held = archive.at("constants");
  std::vector<IValue> constants;
  for (size_t i = 0; i < held.length(); ++i) constants.push_back(held.elementAt(i));
  const std::string folder = members.begin()->key().substr(0, members.begin()->key().find('/') + 1);
  torchscript::CompilationUnit unit(
      [&](const std::string& name) -> std::optional<std::string_view> {
        const auto found = members.find(folder + name);
        if (found == members.end()) return std::nullopt;
        return textOf(found->value());
      },
      path,
      [&](const std::string& name) -> std::vector<torchscript::SourceLine> {
        const auto found = members.find(folder + name + ".debug_pkl");
        return found == members.end() ? std::vector<torchscript::SourceLine>() : linesOf(found->value());
      });
  torchscript::ProgramText program = torchscript::programText(
      unit, module, std::move(constants), {.title = file, .weights = options.weights.empty() ? file : options.weights});
  checkNothingIsMissing(path, program.missing, options);
  return formatted(path, std::move(program.text));
}

// The name of a program, of the member that it is: "m/models/encoder.json".
std::string_view programName(std::string_view member) {
  const size_t begin = member.rfind('/') + 1;
  return member.substr(begin, member.size() - begin - std::string_view(".json").size());
}

// Leaves the member of the program that [path] names, "m.pt2:encoder".
void chooseModel(std::vector<std::string>& members, const std::string& path) {
  const auto [file, wanted] = splitProgramPath(path);
  std::string names;
  for (const std::string& member : members)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", programName(member));
  BOXCAR_CHECK(!wanted.empty(), "'{}' holds several programs, {}; name one, as in '{}:{}'", file, names, file,
               programName(members[0]));
  std::erase_if(members, [wanted](const std::string& member) { return programName(member) != wanted; });
  BOXCAR_CHECK(members.size() == 1, "'{}' has no program '{}'; it has {}", file, wanted, names);
}

bool isTorchScript(const Dict<std::string, Tensor>& members) {
  return std::any_of(members.begin(), members.end(), [](const auto& member) {
    const std::string name = member.key();
    return name.ends_with("/constants.pkl");
  });
}

}  // namespace

bool isModelPath(std::string_view path) noexcept {
  constexpr std::string_view kEndings[] = {".pt2", ".pt", ".pth", ".ts", ".torchscript", kOnnx};
  const std::string_view file = splitProgramPath(path).file;
  return std::ranges::any_of(kEndings, [file](std::string_view ending) { return file.ends_with(ending); });
}

namespace {

// Whether there are fewer storages than weights. Loading the weights to compare them reads the whole archive.
bool mayBeTied(const pt2::ExportedProgram& program, const Dict<std::string, Tensor>& members) {
  const auto weights = std::ranges::count(program.inputs, pt2::InputSpec::Kind::Weight, &pt2::InputSpec::kind);
  const auto storages = std::count_if(members.begin(), members.end(), [](const auto& member) {
    const std::string name = member.key();
    return name.find("/data/weights/weight_") != std::string::npos ||
           name.find("/data/constants/tensor_") != std::string::npos;
  });
  return storages < weights;
}

}  // namespace

std::string importModel(const std::string& path, const ImportOptions& options) {
  const std::string file = std::filesystem::path(path).filename().string();
  const auto [archive, wanted] = splitProgramPath(path);
  BOXCAR_CHECK(!path.ends_with(kOnnx),
               "'{}' is an ONNX model, which boxcar does not read: export the model from PyTorch instead, "
               "torch.export.save(torch.export.export(model, (x,)), '{}.pt2')",
               path, std::filesystem::path(path).stem().string());
  checkIsNoOldCheckpoint(std::string(archive));
  const Dict<std::string, Tensor> members = membersOf(std::string(archive));
  if (isTorchScript(members)) return importTorchScript(path, members, options);
  std::vector<std::string> models;
  for (const auto& member : members) {
    const std::string name = member.key();
    const size_t folder = name.find("/models/");
    if (folder != std::string::npos && name.ends_with(".json")) models.push_back(name);
  }
  BOXCAR_CHECK(!models.empty(), kHoldsNoProgram, path);
  if (!wanted.empty() || models.size() > 1) chooseModel(models, path);
  const std::string what = fmt::format("'{}', {}", path, models[0]);
  pt2::ExportedProgram program = pt2::readExportedProgram(textOf(members.at(models[0])), what);
  const std::vector<std::string> missing = pt2::missingParts(program);
  checkNothingIsMissing(path, missing, options);
  std::vector<std::pair<std::string, std::string>> tied;
  if (mayBeTied(program, members)) tied = pt2::nameTiedWeights(program, weightsOf(path));
  if (options.tied_weights != nullptr) {
    for (const auto& [second, first] : tied) options.tied_weights->push_back(second);
  }
  std::string text = pt2::programText(std::move(program), {.title = file,
                                                           .weights = options.weights.empty() ? file : options.weights,
                                                           .has_missing = !missing.empty(),
                                                           .tied_weights = std::move(tied)});
  return formatted(path, std::move(text));
}

}  // namespace boxcar::interp
