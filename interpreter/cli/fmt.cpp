#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/output_file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace boxcar::cli {
namespace {

namespace fs = std::filesystem;

// Returns the scripts in [folder] and below, sorted by name; hidden folders and links are left out.
std::vector<std::string> scriptsIn(const std::string& folder) {
  std::vector<std::string> found;
  try {
    for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator(); ++entry) {
      const bool is_hidden = entry->path().filename().string().starts_with('.');
      if (is_hidden) {
        entry.disable_recursion_pending();
      } else if (entry->path().extension() == ".ops" && !entry->is_symlink() && entry->is_regular_file()) {
        found.push_back(entry->path().string());
      }
    }
  } catch (const fs::filesystem_error& error) {
    BOXCAR_FAIL("{}: cannot be read: {}", error.path1().string(), error.code().message());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void replaceFile(const std::string& file, const std::string& text) {
  OutputFile output(file);
  output.write(std::as_bytes(std::span(text)));
  output.commit();
}

// Returns false if the file is wrong, or if it is only checked and not laid out as fmt would.
bool formatFile(const std::string& file, bool is_checked) {
  Diagnostics diagnostics;
  const std::string text = interp::readFile(file);
  const std::string formatted = formatSource(Source::create(interp::nameOfFile(file), text), diagnostics);
  reportDiagnostics(diagnostics.all());
  if (diagnostics.hasErrors()) return false;
  if (is_checked) {
    if (formatted != text) print(interp::nameOfFile(file) + "\n");
    return formatted == text;
  }
  if (file == "-") {
    print(formatted);
  } else if (formatted != text) {
    replaceFile(file, formatted);
  }
  return true;
}

// An error in one file does not keep the others from being formatted.
bool formatAll(const std::vector<std::string>& names, bool is_checked) {
  bool is_good = true;
  const auto attempt = [&is_good](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      reportFailure(error.message());
      is_good = false;
    }
  };
  for (const std::string& name : names) {
    attempt([&] {
      std::error_code error;
      const bool is_folder = name != "-" && fs::is_directory(name, error);
      for (const std::string& file : is_folder ? scriptsIn(name) : std::vector<std::string>{name}) {
        attempt([&] { is_good &= formatFile(file, is_checked); });
      }
    });
  }
  return is_good;
}

}  // namespace

void addFmt(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("fmt", "Format scripts in the canonical style");
  const auto files = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("FILES", *files,
                   "Scripts to rewrite, and folders with .ops files; - or none: from standard input to standard output")
      ->type_name("");
  const auto is_checked = std::make_shared<bool>(false);
  command->add_flag("--check", *is_checked,
                    "Write nothing; list the files that would change, with status 1 if there are any");
  addExamples(*command, {"boxcar fmt script.ops", "boxcar fmt --check scripts", "boxcar fmt < script.ops"});
  command->callback([files, is_checked, &status] {
    if (files->empty()) files->push_back("-");
    status = formatAll(*files, *is_checked) ? kDone : kFailed;
  });
}

}  // namespace boxcar::cli
