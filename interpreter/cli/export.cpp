#include <boxcar/backends/io/zip_writer.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/function_call.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/export/export_program.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace boxcar::cli {
namespace {

// Storages begin there, so that they can be mapped without a copy.
constexpr size_t kAlignment = 64;

void writeArchive(const TracedFunction& function, const std::string& path, io::ZipWriter& archive) {
  const std::string folder = std::filesystem::path(path).stem().string();
  for (const interp::ExportedMember& member : interp::exportFunction(function, folder)) {
    const Tensor& storage = member.storage;
    const std::span<const std::byte> bytes =
        storage.defined() ? std::span(static_cast<const std::byte*>(storage.data_ptr()), storage.nbytes())
                          : std::as_bytes(std::span(member.text));
    archive.add(member.name, {bytes}, kAlignment);
  }
  archive.finish();
}

}  // namespace

void addExport(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("export", "Write a function as a model that torch.export.load reads");
  const auto call = std::make_shared<FunctionCall>();
  const auto options = std::make_shared<RunOptions>();
  const auto output = std::make_shared<std::string>();
  addFunctionCall(*command, *call);
  addOutputOption(*command, "-o,--output", *output, "The archive to write")->type_name("OUT.pt2")->required();
  addOptionsOfRuns(*command, options);
  addExamples(*command, {"boxcar export tool.ops scale 'ones(2, 3)' by=3 -o scale.pt2"});
  command->callback([command, call, options, output, &status] {
    if (!output->ends_with(".pt2")) {
      throw CLI::ValidationError("--output", fmt::format("'{}' does not end with .pt2", *output));
    }
    options->file = call->file;
    readRunOptions(*command, {}, *options, {{"--output", *output}});
    options->prepares_imports = false;  // PyTorch does not have the operators of prepared programs
    // It is opened first, so that problems with it are reported before the call runs.
    io::ZipWriter archive(*output);
    Tracer tracer("", {.keeps_calls = true});
    traceCall(*call, *options, tracer);
    writeArchive(tracer.tracedFunction(), *output, archive);
    status = kDone;
  });
}

}  // namespace boxcar::cli
