#include <boxcar/dispatcher/plugin/plugin.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/bench/chart.h>
#include <boxcar/interpreter/cli/bench/instructions.h>
#include <boxcar/interpreter/cli/bench/recorded.h>
#include <boxcar/interpreter/cli/bench/report.h>
#include <boxcar/interpreter/cli/bench/timing.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/machine_options.h>
#include <boxcar/interpreter/cli/number_range.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/progress.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/script_option.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/output_file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::cli {
namespace {

struct BenchOptions {
  std::vector<std::string> operators;
  std::string args;
  std::string recorded;
  std::string script;
  std::string svg;
  bool json = false;
  bool quick = false;
  bool instructions = true;
  double seconds = 4;
  // Where a run under callgrind writes what it called; empty in every other run.
  std::string count_into;
};

// A folder for the files of handlers and callgrind; removed when the command ends.
class ScratchFolder final {
 public:
  ScratchFolder() : path_((parent() / "boxcar_bench_XXXXXX").string()) {
    BOXCAR_CHECK(::mkdtemp(path_.data()) != nullptr,
                 "cannot make the folder '{}': {}; set TMPDIR to one that can be "
                 "written",
                 path_, std::strerror(errno));
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const noexcept { return path_; }

 private:
  static std::filesystem::path parent() {
    std::error_code failure;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
    BOXCAR_CHECK(!failure, "the folder for temporary files cannot be used: {}; set TMPDIR to one that can be written",
                 failure.message());
    return folder;
  }

  std::string path_;
};

// The groups to measure if no operators are given: they show how much boxing matters, from a kernel that does nothing
// to one that does much. What starts threads comes last, because until then references are counted without atomic
// instructions.
std::vector<BenchGroup> makeStory(BenchPaths& paths) {
  std::vector<BenchGroup> groups;
  groups.push_back(paths.noOp());
  paths.addDetours(groups.back());
  const auto add = [&](const char* op, const char* args) {
    groups.push_back(paths.plain(readCall(findOperatorToCall(op), args)));
  };
  add("aten::add.Tensor", "[ones([2]), ones([2])]");
  add("aten::mm", "[ones([8, 8]), ones([8, 8])]");
  add("aten::add.Tensor", "[ones([1000000]), ones([1000000])]");
  return groups;
}

std::vector<BenchGroup> makeGroups(BenchPaths& paths, const BenchOptions& options) {
  std::vector<BenchGroup> groups;
  if (!options.recorded.empty()) {
    for (BenchCall& call : recordedCalls(options.recorded, options.operators)) {
      groups.push_back(paths.plain(std::move(call)));
    }
    return groups;
  }
  if (options.operators.empty()) return makeStory(paths);
  for (const std::string& name : options.operators) {
    const OperatorHandle op = findOperatorToCall(name);
    groups.push_back(paths.plain(options.args.empty() ? makeUpCall(op) : readCall(op, options.args)));
    paths.addDetours(groups.back());
  }
  return groups;
}

// Returns the command line that makes the same groups.
std::vector<std::string> sameCommand(const BenchOptions& options, const std::vector<PluginInfo>& plugins) {
  std::vector<std::string> arguments;
  for (const PluginInfo& plugin : plugins) arguments.push_back("--plugin=" + plugin.path);
  arguments.push_back("bench");
  if (!options.script.empty()) arguments.push_back("--script=" + options.script);
  if (!options.args.empty()) arguments.push_back("--args=" + options.args);
  if (!options.recorded.empty()) arguments.push_back("--recorded=" + options.recorded);
  arguments.insert(arguments.end(), options.operators.begin(), options.operators.end());
  return arguments;
}

int runBench(const BenchOptions& options) {
  if (!options.args.empty() && options.operators.size() != 1)
    throw CLI::ValidationError("--args", "needs one OP, and gives its arguments");
  const std::vector<PluginInfo> plugins = Dispatcher::singleton().plugins();
  const std::optional<Program> script = declareScript(options.script);
  if (!options.recorded.empty()) protectFile(options.recorded);
  std::optional<OutputFile> svg;
  if (!options.svg.empty()) svg.emplace(options.svg);

  const ScratchFolder folder;
  BenchPaths paths(folder.path());
  std::vector<BenchGroup> groups = makeGroups(paths, options);
  if (!options.count_into.empty()) {
    runCountedPaths(groups, options.count_into);
    return kDone;
  }
  size_t path_count = 0;
  for (const BenchGroup& group : groups) path_count += group.paths.size();
  std::optional<Progress> progress;
  volatile uint64_t timed = 0;
  progress.emplace("bench", ProgressCount{&timed, groups.size(), "operators timed"});
  std::vector<std::vector<BenchTime>> times;
  for (BenchGroup& group : groups) {
    const double share = static_cast<double>(group.paths.size()) / static_cast<double>(path_count);
    const double seconds = options.quick ? std::min(options.seconds, 0.3) : options.seconds;
    times.push_back(timePaths(group, {seconds * share, options.quick ? 15 : 1001}));
    timed = timed + 1;
  }
  InstructionCounts counted;
  if (options.instructions) counted = countInstructions(groups, sameCommand(options, plugins), folder.path());
  std::vector<BenchTable> tables;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::optional<double>> counts(times[i].size());
    if (!counted.counts.empty()) counts = counted.counts[i];
    tables.push_back(makeTable(groups[i], times[i], counts));
  }
  progress.reset();
  print(options.json ? toJson(tables) : toText(tables));
  if (!counted.problem.empty()) reportFailure("no instructions were counted: " + counted.problem, "bench");
  if (svg.has_value()) {
    const std::string picture = toSvg(tables);
    svg->write(std::as_bytes(std::span(picture)));
    svg->commit();
  }
  return kDone;
}

}  // namespace

void addBench(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("bench", "Measure the cost of operator calls on this machine");
  const auto options = std::make_shared<BenchOptions>();
  command
      ->add_option(
          "OP", options->operators,
          "Operators, such as aten::relu or aten::add.Tensor; without any, a set that shows the cost of boxing")
      ->type_name("");
  CLI::Option* args =
      command->add_option("--args", options->args, "The arguments of the OP as an expression: '[ones([8, 8]), 2]'");
  args->type_name("LIST");
  command
      ->add_option("--recorded", options->recorded,
                   "Take the arguments from a recording, also from one of shapes: the first call of each OP, or of "
                   "every operator in it")
      ->type_name("REC")
      ->excludes(args);
  addScriptOption(*command, options->script);
  const auto machine = std::make_shared<MachineOptions>();
  addThreadsOption(*command, machine);
  command->add_flag("--json", options->json, "Print JSON instead of tables");
  addOutputOption(*command, "--svg", options->svg, "Also write a bar chart")->type_name("FILE");
  command->add_option("--seconds", options->seconds, "The maximum time of the timing, in seconds (4)")
      ->type_name("S")
      ->check(numbersFrom(0.001, 1e6));
  command->add_flag("--quick", options->quick, "Few repetitions and no instruction counts, for a quick try");
  CLI::Option* instructions = command->add_flag(
      "--instructions,!--no-instructions", options->instructions,
      "Count the instructions of a call with valgrind, if it is installed; the default without --quick");
  command->add_option("--count-into", options->count_into)->group("");
  addExamples(*command, {"boxcar bench", "boxcar bench aten::relu aten::add.Tensor",
                         "boxcar bench aten::mm --args '[ones([8, 8]), ones([8, 8])]' --quick"});
  command->callback([options, machine, instructions, &status] {
    applyThreads(*machine);
    if (options->quick && instructions->count() == 0) options->instructions = false;
    status = runBench(*options);
  });
}

}  // namespace boxcar::cli
