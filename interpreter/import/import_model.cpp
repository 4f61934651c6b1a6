#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/import/pt2/exported_program.h>
#include <boxcar/interpreter/import/pt2/program_text.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/stack.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

namespace boxcar::interp {
namespace {

// The members of a zip archive. The archive is read by an operator, like all files that scripts read.
Dict<std::string, Tensor> membersOf(const std::string& path) {
  Stack stack;
  push(stack, path);
  Dispatcher::singleton().findSchemaOrThrow("io::load_zip", "").callBoxed(stack);
  return pop(stack).to<Dict<std::string, Tensor>>();
}

constexpr std::string_view kOnnx = ".onnx";

std::string_view textOf(const Tensor& bytes) {
  return {reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>()), static_cast<size_t>(bytes.numel())};
}

}  // namespace

bool isModelPath(std::string_view path) noexcept { return path.ends_with(".pt2") || path.ends_with(kOnnx); }

std::string importModel(const std::string& path, const ImportOptions& options) {
  const std::string file = std::filesystem::path(path).filename().string();
  BOXCAR_CHECK(!path.ends_with(kOnnx),
               "'{}' is an ONNX model, which boxcar does not read: export the model from PyTorch instead, "
               "torch.export.save(torch.export.export(model, (x,)), '{}.pt2')",
               path, std::filesystem::path(path).stem().string());
  const Dict<std::string, Tensor> members = membersOf(path);
  std::vector<std::string> models;
  for (const auto& member : members) {
    const std::string name = member.key();
    const size_t folder = name.find("/models/");
    if (folder != std::string::npos && name.ends_with(".json")) models.push_back(name);
  }
  BOXCAR_CHECK(!models.empty(),
               "'{}' holds no program of torch.export, which would be in models/ in it; write one by torch.export.save",
               path);
  BOXCAR_CHECK(models.size() == 1, "'{}' holds several models: {}", path, fmt::join(models, ", "));
  const std::string what = fmt::format("'{}', {}", path, models[0]);
  const pt2::ExportedProgram program = pt2::readExportedProgram(textOf(members.at(models[0])), what);
  const std::vector<std::string> missing = pt2::missingParts(program);
  BOXCAR_CHECK(missing.empty() || options.is_lenient,
               "'{}' cannot be imported, because boxcar does not have\n  {}\nA plugin may bring an operator; --lenient "
               "imports the rest",
               path, fmt::join(missing, "\n  "));
  std::string text = pt2::programText(
      program,
      {.title = file, .weights = options.weights.empty() ? file : options.weights, .is_lenient = options.is_lenient});
  Diagnostics diagnostics;
  return formatSource(Source::create(path, std::move(text)), diagnostics);
}

}  // namespace boxcar::interp
