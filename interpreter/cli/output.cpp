#include <boxcar/interpreter/cli/command.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace boxcar::cli {

void takeRest(const std::vector<std::string>& rest, std::string& file, std::vector<std::string>& args) {
  // Lists came with a space before them.
  for (std::string& arg : args) {
    if (arg.starts_with(" [") && arg.ends_with(']')) arg.erase(0, 1);
  }
  args.insert(args.end(), rest.begin(), rest.end());
  if (!file.empty()) return;
  if (args.empty()) throw CLI::RequiredError("FILE");
  file = args.front();
  args.erase(args.begin());
}

void addExamples(CLI::App& command, std::initializer_list<const char*> lines) {
  std::string text;
  for (const char* line : lines) text.append(text.empty() ? "" : "\n").append(line);
  command.footer(std::move(text));
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void printError(const std::string& text) {
  if (text.empty()) return;
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace boxcar::cli
