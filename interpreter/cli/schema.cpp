#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/schema/parse_schema.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace boxcar::cli {
namespace {

int printSchemas(const std::string& file) {
  const SourcePtr source = Source::create(interp::nameOfFile(file), interp::readFile(file));
  int status = kDone;
  for (uint32_t number = 1; number <= source->line_count(); ++number) {
    const Span span = source->lineSpan(number);
    const std::string_view line = source->text(span);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    try {
      print(toString(parseSchema(line)) + "\n");
    } catch (const SchemaError& error) {
      const auto begin = static_cast<uint32_t>(span.begin + error.offset());
      const auto end = static_cast<uint32_t>(begin + error.length());
      reportDiagnostics({Diagnostic{Severity::Error, source, {begin, end}, error.reason(), {}}});
      status = kFailed;
    }
  }
  return status;
}

}  // namespace

void addSchema(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("schema", "Read one schema per line and print its canonical form");
  const auto file = std::make_shared<std::string>();
  command
      ->add_option("FILE", *file,
                   "The file, or - for standard input; blank lines and lines that start with # are skipped")
      ->required()
      ->type_name("FILE");
  addExamples(*command, {"echo 'relu(Tensor self)->Tensor' | boxcar schema -"});
  command->callback([file, &status] { status = printSchemas(*file); });
}

}  // namespace boxcar::cli
