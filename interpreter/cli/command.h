#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace boxcar::cli {

enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,         // the script or the input is wrong
  kBadUsage = 2,       // the command line is wrong
  kInterrupted = 130,  // what shells report when Ctrl-C ended a program
};

// Each adds its subcommand to [app]. If the command line asks for it, parsing runs it and sets [status]. [rest]: the
// words after `--`, which are not read as options.
void addRun(CLI::App& app, const std::vector<std::string>& rest, int& status);
void addImport(CLI::App& app, int& status);
void addOptimize(CLI::App& app, int& status);
void addExport(CLI::App& app, int& status);
void addCall(CLI::App& app, int& status);
void addBenchModel(CLI::App& app, int& status);
void addTrace(CLI::App& app, const std::vector<std::string>& rest, int& status);
void addProfile(CLI::App& app, const std::vector<std::string>& rest, int& status);
void addCheck(CLI::App& app, int& status);
void addFmt(CLI::App& app, int& status);
void addDis(CLI::App& app, int& status);
void addAsm(CLI::App& app, const std::vector<std::string>& rest, int& status);
void addOps(CLI::App& app, int& status);
void addExplain(CLI::App& app, int& status);
void addTable(CLI::App& app, int& status);
void addBench(CLI::App& app, int& status);
void addSchema(CLI::App& app, int& status);
void addRecord(CLI::App& app, const std::vector<std::string>& rest, int& status);
void addReplay(CLI::App& app, int& status);
void addDiff(CLI::App& app, int& status);
void addLsp(CLI::App& app, int& status);
void addRepl(CLI::App& app, const std::vector<std::string>& rest, int& status);
void addCompletion(CLI::App& app, int& status);
void addManualPage(CLI::App& app, int& status);

// Adds command lines that show how [command] is used, for its help and the manual page.
void addExamples(CLI::App& command, std::initializer_list<const char*> lines);

// Makes [args] the script's words, and adds [rest] to them; its first word is the file if none was named before.
void takeRest(const std::vector<std::string>& rest, std::string& file, std::vector<std::string>& args);

// Prints to stdout.
void print(const std::string& text);
// Prints to stderr, after everything that was printed to stdout.
void printError(const std::string& text);

}  // namespace boxcar::cli
