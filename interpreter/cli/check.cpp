#include <boxcar/interpreter/bytecode/bytecode.h>  // IWYU pragma: keep, for what compileText() gives
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace boxcar::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Adds a place as editors count: lines and columns from 1, columns in code points, the end exclusive.
void addPlace(OrderedJson& object, const SourcePtr& source, Span span) {
  if (source == nullptr) return;
  const LineColumn begin = source->position(span.begin);
  const LineColumn end = source->position(span.end);
  object["file"] = source->name();
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["end_line"] = end.line;
  object["end_column"] = end.column;
}

OrderedJson toJson(const Diagnostic& diagnostic) {
  OrderedJson object = {{"severity", toString(diagnostic.severity)}, {"message", diagnostic.message}};
  addPlace(object, diagnostic.source, diagnostic.span);
  OrderedJson notes = OrderedJson::array();
  for (const Diagnostic::Note& note : diagnostic.notes) {
    OrderedJson entry = {{"message", note.text}};
    addPlace(entry, note.place.source, note.place.span);
    notes.push_back(std::move(entry));
  }
  object["notes"] = std::move(notes);
  return object;
}

// Prints one JSON array with an object for each diagnostic; text that is not UTF-8 is replaced.
void printJson(const std::vector<Diagnostic>& diagnostics) {
  OrderedJson array = OrderedJson::array();
  for (const Diagnostic& diagnostic : diagnostics) array.push_back(toJson(diagnostic));
  print(array.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

}  // namespace

void addCheck(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("check", "Report the errors of a script without running it");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "The script, an .ops file, or - for standard input")->required()->type_name("");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print a JSON array of diagnostics, for editors");
  const auto name = std::make_shared<std::string>();
  command->add_option("--name", *name, "The name of the script in messages, and the start of its relative paths")
      ->type_name("PATH");
  addExamples(*command, {"boxcar check tool.ops", "boxcar check --json --name tool.ops - < buffer.txt"});
  command->callback([file, json, name, &status] {
    Diagnostics diagnostics;
    const std::string shown = name->empty() ? interp::nameOfFile(*file) : *name;
    status = kDone;
    try {
      interp::compileText(interp::readFile(*file), shown, diagnostics);
    } catch (const CompileError&) {
      status = kFailed;
    } catch (const Error& error) {
      if (!*json) throw;
      // Readers of JSON get an array whatever happens, and every object in it has a place.
      status = kFailed;
      diagnostics.error(Source::create(shown, ""), {}, error.message());
    }
    if (*json) {
      printJson(diagnostics.all());
    } else if (diagnostics.size() != 0) {
      reportDiagnostics(diagnostics.all());
    }
  });
}

}  // namespace boxcar::cli
